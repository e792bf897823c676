import type { Message } from '../../api/answers/messages.ts'
import type { ThinkingPart, ToolPart } from '../../model/part.ts'
import { fieldsOf, firstText, summaryOf } from '../../shared/tools.ts'
import { chatAddress, count, cut, duration, visible } from '../lib/format.ts'
import { Icon, PlusMinus } from '../lib/parts.tsx'
import { Code, FileLink, LongText, Terminal } from './code.tsx'
import { DiffView, padded } from './diff-view.tsx'
import { Markdown } from './markdown-view.tsx'
import { type Place, placesOf } from './places.ts'
import { editsOfCall, lineOf, sortOf, type StepLine, todosOf } from './tools.ts'
import { Value } from './value.tsx'

interface StepProps {
  readonly message: Message
  readonly part: ToolPart | ThinkingPart
  readonly isOpen: boolean
  readonly setOpen: (isOpen: boolean) => void
  /** Why it is marked: Cursor has it no more. */
  readonly gone: string | null
}

/** A step of the agent: one line that says what it did and what came of it, and below it the details. */
export function Step({ message, part, isOpen, setOpen, gone }: StepProps) {
  const line = part.kind === 'tool' ? lineOf(part) : thoughtLine(part)
  return (
    <details
      class={`call${gone === null ? '' : ' gone'}`}
      data-message={message.id}
      data-status={part.kind === 'tool' ? part.status : undefined}
      open={isOpen}
      onToggle={(event) => {
        if (event.currentTarget.open !== isOpen) setOpen(event.currentTarget.open)
      }}
    >
      <summary title={part.kind === 'tool' ? part.name : undefined}>
        <Icon name={line.icon} />
        <span class="verb">{line.verb}</span>
        <Object line={line} />
        {line.lines !== null && <PlusMinus {...line.lines} />}
        {line.result !== null && (
          <span class={part.kind === 'tool' && part.status !== 'completed' ? `tag ${part.status}` : 'soft result'}>
            {line.result}
          </span>
        )}
        {gone !== null && <span class="tag kept">deleted in Cursor, kept here</span>}
      </summary>
      {gone !== null && <p class="explain">{gone}</p>}
      {isOpen && (
        <div class="call-body">
          {part.kind === 'thinking' ? <Markdown text={part.text} isPlain={false} /> : <CallBody part={part} />}
        </div>
      )}
    </details>
  )
}

const thoughtLine = ({ text, durationMs }: ThinkingPart): StepLine => ({
  icon: 'thought',
  verb: 'Thought',
  object: text.trim().split('\n')[0] ?? '',
  isCode: false,
  result: durationMs === null ? null : duration(durationMs),
  lines: null,
})

function Object({ line: { object, isCode } }: { line: StepLine }) {
  const text = visible(cut(object.split('\n')[0] ?? '', 240))
  return isCode ? <code class="object">{text}</code> : <span class="object">{text}</span>
}

function CallBody({ part }: { part: ToolPart }) {
  const { view } = sortOf(part.name)
  return (
    <>
      {view !== 'places' && (part.paths.length > 1 || part.paths[0]?.startsWith('/') === true) && (
        <p class="soft small">
          {part.paths.slice(0, 5).map((path) => (
            <span key={path}>
              <FileLink path={path} />{' '}
            </span>
          ))}
        </p>
      )}
      {part.error !== null && <p class="error-part">{visible(part.error)}</p>}
      {view === 'terminal' && <Command part={part} />}
      {view === 'edits' && <Edits part={part} />}
      {view === 'places' && <Places part={part} />}
      {view === 'file' && <File part={part} />}
      {view === 'todos' && <Todos part={part} />}
      {view === 'prose' && <Prose part={part} />}
      {view === 'agent' && <Agent part={part} />}
      {view === 'fields' && <Fields part={part} />}
    </>
  )
}

const WORDS = ['output', 'contents', 'content', 'text', 'answer', 'result', 'stdout', 'markdown', 'summary']

/** The words of a call's output; undefined if it has none that stand alone. */
const wordsOf = ({ output }: ToolPart): string | undefined =>
  typeof output === 'string' ? output : firstText(fieldsOf(output), WORDS)

const Nothing = ({ part: { output } }: { part: ToolPart }) =>
  output === null || output === undefined || output === '' ? (
    <p class="soft">No output was recorded.</p>
  ) : (
    <Value value={output} />
  )

function Command({ part }: { part: ToolPart }) {
  const command = summaryOf(part)
  const output = wordsOf(part)
  return (
    <>
      {(command.includes('\n') || command.length > 90) && <Code text={command} language="bash" path={null} />}
      {output === undefined ? <Nothing part={part} /> : <Terminal text={output} />}
    </>
  )
}

function Edits({ part }: { part: ToolPart }) {
  const edits = editsOfCall(part)
  if (edits.length === 0) {
    return (
      <>
        <p class="soft">Cursor recorded that the file was edited, and not what changed.</p>
        {typeof part.input === 'object' && <Value value={part.input} />}
      </>
    )
  }
  return (
    <>
      {edits.map((edit, index) => (
        <div key={index}>
          {edits.length > 1 && edit.path !== null && (
            <p class="soft small">
              <FileLink path={edit.path} />
            </p>
          )}
          <DiffView edit={edit} />
        </div>
      ))}
    </>
  )
}

const PLACES_MAX = 100

function Places({ part }: { part: ToolPart }) {
  const places = placesOf(part.output)
  if (places.length === 0) {
    const output = wordsOf(part)
    return output === undefined ? <Nothing part={part} /> : <LongText text={output} isCode />
  }
  const byFile = new Map<string, Place[]>()
  for (const place of places.slice(0, PLACES_MAX)) {
    byFile.set(place.path, [...(byFile.get(place.path) ?? []), place])
  }
  return (
    <ul class="places">
      {[...byFile].map(([path, found]) => (
        <li key={path}>
          <FileLink path={path} />
          {found.some(({ text }) => text !== null) && (
            <pre class="diff" tabIndex={0} dir="ltr">
              {found.map(({ line, text }, index) => (
                <span key={index} data-numbers={`${padded(line)}  `}>
                  {visible(cut(text ?? '', 2000))}
                  {'\n'}
                </span>
              ))}
            </pre>
          )}
        </li>
      ))}
      {places.length > PLACES_MAX && <li class="soft">and {count(places.length - PLACES_MAX)} more places</li>}
    </ul>
  )
}

function File({ part }: { part: ToolPart }) {
  const text = wordsOf(part)
  if (text !== undefined) return <Code text={text} language={null} path={part.paths[0] ?? null} />
  const isOnlyCounted = typeof fieldsOf(part.output)['totalLinesInFile'] === 'number'
  return isOnlyCounted ? <p class="soft">Cursor did not record what was read.</p> : <Nothing part={part} />
}

export const TodoList = ({ items }: { items: readonly { content: string; status: string | null }[] }) => (
  <ul class="todos">
    {items.map((item, index) => (
      <li key={index} data-status={item.status ?? 'unknown'}>
        <span class="hidden">{item.status ?? 'state unknown'}: </span>
        {visible(item.content)}
      </li>
    ))}
  </ul>
)

function Todos({ part }: { part: ToolPart }) {
  const items = todosOf(part)
  return items.length === 0 ? <Fields part={part} /> : <TodoList items={items} />
}

function Prose({ part }: { part: ToolPart }) {
  const text = wordsOf(part)
  return text === undefined ? <Fields part={part} /> : <Markdown text={text} isPlain={false} />
}

function Agent({ part }: { part: ToolPart }) {
  const prompt = firstText(fieldsOf(part.input), ['prompt', 'task'])
  const child = firstText(fieldsOf(part.output), ['agentId', 'agent_id', 'composerId'])
  const answer = wordsOf(part)
  return (
    <>
      {prompt !== undefined && <LongText text={prompt} />}
      {child !== undefined && (
        <p>
          <a href={chatAddress(child)}>Open the subagent's chat</a>
        </p>
      )}
      {answer !== undefined && <Markdown text={answer} isPlain={false} />}
      {prompt === undefined && answer === undefined && child === undefined && <Fields part={part} />}
    </>
  )
}

const Fields = ({ part: { input, output } }: { part: ToolPart }) => (
  <>
    {input !== null && (
      <div>
        <p class="soft small">Asked</p>
        <Value value={input} />
      </div>
    )}
    <div>
      <p class="soft small">Answered</p>
      {output === null || output === '' ? <p class="soft">No output was recorded.</p> : <Value value={output} />}
    </div>
  </>
)
