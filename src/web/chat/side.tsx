import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { ChatDetail } from '../../api/answers/chats.ts'
import {
  bytes,
  cents,
  chatAddress,
  count,
  cut,
  fileAddress,
  moment,
  plural,
  projectAddress,
  titleOf,
  visible,
} from '../lib/format.ts'
import { FileLink } from './code.tsx'
import { ChatMap } from './map.tsx'
import { PlusMinus } from '../lib/parts.tsx'
import { type FileFacts, type Outline, type Spot, useCommits } from './whole.ts'

type Fact = readonly [name: string, value: ComponentChildren]

interface SideProps {
  readonly chat: ChatDetail
  readonly outline: Outline
  readonly hits: readonly Spot[]
  readonly facts: FileFacts
  readonly target: string | null
  readonly show: (messageId: string) => void
}

/** What is known of the chat, and from where. */
export function Side({ chat, outline, hits, facts, target, show }: SideProps) {
  const commits = useCommits(chat, facts)
  const [isWide] = useState(() => matchMedia('(min-width: 90rem)').matches)
  return (
    <aside class="side" aria-label="About this chat">
      <details open={isWide}>
        <summary>About this chat</summary>
        <ChatMap outline={outline} hits={hits} show={show} />
        <Some title="Prompts" items={outline.prompts} what="prompt">
          {({ id, text, isGone }, index) => (
            <li key={id} class="outline">
              <a
                href={`#${encodeURIComponent(id)}`}
                aria-current={id === target ? 'location' : undefined}
                dir="auto"
                onClick={(event) => {
                  event.preventDefault()
                  show(id)
                }}
              >
                <span class="soft">{index + 1}</span>{' '}
                {visible(cut(text.split('\n')[0] ?? '', 90)) || 'Prompt without words'}
              </a>
              {isGone && <span class="tag kept">kept</span>}
            </li>
          )}
        </Some>
        <Some title="Changes" items={chat.files.filter(({ edits }) => edits > 0)} what="changed file">
          {({ path, edits }) => {
            const more = facts.get(path)?.otherChats ?? 0
            const changed = outline.lines.get(path) ?? null
            return (
              <li key={path}>
                <span>
                  <FileLink path={path} isShort />
                  {more > 0 && (
                    <a class="small" href={fileAddress(path, chat.project?.id)}>
                      {plural(more, 'more chat')} edited it
                    </a>
                  )}
                </span>
                {changed === null ? <span class="soft">{plural(edits, 'edit')}</span> : <PlusMinus {...changed} />}
              </li>
            )
          }}
        </Some>
        <Some title="Subagents" items={chat.children} what="subagent">
          {({ id, title, deletedInCursor, messageCount }) => (
            <li key={id}>
              <a href={chatAddress(id)} dir="auto">
                {titleOf(title)}
              </a>
              {deletedInCursor ? (
                <span class="tag kept">kept</span>
              ) : (
                <span class="soft">{plural(messageCount, 'message')}</span>
              )}
            </li>
          )}
        </Some>
        <Some title="Commits" items={commits} what="commit">
          {({ sha, subject }) => (
            <li key={sha}>
              <span>
                <code>{sha.slice(0, 7)}</code> {visible(cut(subject, 90))}
              </span>
            </li>
          )}
        </Some>
        <section>
          <h2>Tokens</h2>
          {/* Each by its source; they are never added. */}
          <Lines absent="not recorded" facts={tokenLines(chat)} />
        </section>
        <Facts chat={chat} />
      </details>
    </aside>
  )
}

const SHOWN = 8

interface SomeProps<T> {
  readonly title: string
  readonly items: readonly T[]
  readonly what: string
  readonly children: (item: T, index: number) => ComponentChildren
}

/** The first of a list, and a button for all of it. An empty one is not shown. */
function Some<T>({ title, items, what, children }: SomeProps<T>) {
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? items : items.slice(0, SHOWN)
  return items.length === 0 ? null : (
    <section>
      <h2>{title}</h2>
      <ul class="lines">{shown.map(children)}</ul>
      {shown.length < items.length && (
        <button type="button" class="quiet" onClick={() => setWhole(true)}>
          All {plural(items.length, what)}
        </button>
      )}
    </section>
  )
}

const sum = (of: { input: number | null; output: number | null } | null): string | null =>
  of === null ? null : `${count(of.input)} in · ${count(of.output)} out`

/** Names and values; what is null says `absent`. */
const Lines = ({ facts, absent }: { facts: readonly Fact[]; absent: string }) => (
  <dl class="facts">
    {facts.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value ?? <span class="soft">{absent}</span>}</dd>
      </div>
    ))}
  </dl>
)

const tokenLines = ({ tokens, recordedCostCents }: ChatDetail): readonly Fact[] => [
  ['Recorded', sum(tokens.recorded)],
  ['Estimated', sum(tokens.estimated)],
  ['Cost', recordedCostCents === null ? null : cents(recordedCostCents)],
]

const by = (source: string | null) =>
  source === null ? null : <span class="soft"> by {source.replaceAll('-', ' ')}</span>

/** Null: Cursor does not say it. */
function factsOf(chat: ChatDetail): readonly Fact[] {
  const { project, contextTokens: context } = chat
  const hasLines = chat.linesAdded !== null || chat.linesRemoved !== null
  return [
    [
      'Project',
      project === null ? null : (
        <>
          <a href={projectAddress(project.id)}>{project.name}</a>
          {by(chat.projectSource)}
        </>
      ),
    ],
    ...(chat.machine === null
      ? []
      : [['Machine', `${visible(chat.machine.name)} of ${visible(chat.machine.user)}`] as const]),
    ['Began', chat.createdAt === null ? null : moment(chat.createdAt)],
    ['Last activity', chat.lastActivityAt === null ? null : moment(chat.lastActivityAt)],
    [
      'Model',
      chat.models.length === 0 ? null : (
        <>
          {chat.models.join(', ')}
          {by(chat.modelSource)}
        </>
      ),
    ],
    ['Mode', chat.mode],
    ['Branch', chat.branch],
    ['Working tree', chat.worktree?.path ?? null],
    ['Messages', `${count(chat.messageCount)}, ${plural(chat.userMessageCount, 'prompt')}`],
    ['Tool calls', count(chat.toolCallCount)],
    ['Lines', hasLines ? `+${count(chat.linesAdded)} −${count(chat.linesRemoved)}` : null],
    [
      'Context',
      context === null || context.used === null ? null : `${count(context.used)} of ${count(context.limit)} tokens`,
    ],
    ['Size', bytes(chat.sizeBytes)],
    ['Source', `${chat.source.replaceAll('-', ' ')}, ${chat.format}`],
  ]
}

function Facts({ chat }: { chat: ChatDetail }) {
  const facts = factsOf(chat)
  const unknown = facts.filter(([, value]) => value === null).map(([name]) => name)
  return (
    <section>
      <h2>Facts</h2>
      <Lines absent="" facts={facts.filter(([, value]) => value !== null)} />
      {unknown.length > 0 && (
        <details class="section">
          <summary>{plural(unknown.length, 'fact')} not recorded</summary>
          <p class="soft">{unknown.join(', ')}</p>
        </details>
      )}
    </section>
  )
}
