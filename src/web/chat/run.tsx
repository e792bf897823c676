import { useState } from 'preact/hooks'
import type { ToolPart } from '../../model/part.ts'
import { cut, duration, visible } from '../lib/format.ts'
import { Code, DiffView, LongText } from './code.tsx'
import { summaryOf } from '../../shared/tool-summary.ts'
import { callKindOf } from '../../shared/tools.ts'
import { type Call, describeRun, diffOf, outputText } from './rows.ts'
import { FileLink } from './file-link.tsx'

/** A run of calls is one line; it opens to its calls, and each of them to its input and output. */
export function Run({ calls, target }: { calls: readonly Call[]; target: string | null }) {
  const isTarget = calls.some(({ message }) => message.id === target)
  const [isOpen, setOpen] = useState(isTarget)
  const { text, failed } = describeRun(calls)
  const only = calls.length === 1 ? calls[0] : undefined
  if (only !== undefined) return <CallView call={only} isOpen={false} />
  return (
    <details class="run" open={isOpen || isTarget} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {text}
        {failed > 0 && <span class="failed">, {failed} failed</span>}
      </summary>
      <div class="run-calls">
        {calls.map((call) => (
          <CallView key={`${call.message.id} ${call.index}`} call={call} isOpen={false} />
        ))}
      </div>
    </details>
  )
}

const MARKS: Readonly<Record<string, string>> = {
  error: 'failed',
  cancelled: 'cancelled',
  rejected: 'rejected',
  running: 'running',
}

function CallView({ call, isOpen }: { call: Call; isOpen: boolean }) {
  const [wasOpened, setOpened] = useState(isOpen)
  const { part, message } = call
  if (part.kind === 'thinking') {
    return (
      <details class="call" data-message={message.id} tabIndex={-1}>
        <summary>
          <span class="call-kind">thinking</span>
          <span class="call-text soft">
            {part.durationMs === null ? cut(part.text, 120) : duration(part.durationMs)}
          </span>
        </summary>
        <div class="call-body prose-plain">
          <LongText text={part.text} />
        </div>
      </details>
    )
  }
  const mark = MARKS[part.status]
  return (
    <details
      class="call"
      data-message={message.id}
      data-status={part.status}
      tabIndex={-1}
      onToggle={(event) => event.currentTarget.open && setOpened(true)}
    >
      <summary title={part.name}>
        <span class="call-kind">{callKindOf(part.name) === 'other' ? cut(part.name, 24) : callKindOf(part.name)}</span>
        <code class="call-text">{visible(cut(summaryOf(part).split('\n')[0] ?? '', 240))}</code>
        {mark !== undefined && <span class={`tag ${part.status}`}>{mark}</span>}
      </summary>
      {wasOpened && <CallBody part={part} />}
    </details>
  )
}

function CallBody({ part }: { part: ToolPart }) {
  const diff = diffOf(part)
  const output = outputText(part)
  const summary = summaryOf(part)
  const isCommand = callKindOf(part.name) === 'shell'
  return (
    <div class="call-body">
      <p class="call-name">
        {part.name}
        {part.paths.slice(0, 5).map((path) => (
          <span key={path}>
            {' '}
            <FileLink path={path} />
          </span>
        ))}
      </p>
      {part.error !== null && <p class="error-part">{visible(part.error)}</p>}
      {isCommand && summary !== '' && <Code text={summary} language="bash" path={null} />}
      {diff !== null && <DiffView text={diff} />}
      {!isCommand && diff === null && part.input !== null && (
        <div>
          <p class="call-label">Input</p>
          <LongText text={typeof part.input === 'string' ? part.input : JSON.stringify(part.input, null, 2)} isCode />
        </div>
      )}
      {diff === null && (
        <div>
          <p class="call-label">Output</p>
          {output === null ? <p class="soft">No output was recorded.</p> : <LongText text={output} isCode />}
        </div>
      )}
    </div>
  )
}
