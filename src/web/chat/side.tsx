import { useState } from 'preact/hooks'
import type { ChatDetail } from '../../api/answers/chats.ts'
import { bytes, cents, chatAddress, count, cut, moment, plural, projectAddress, visible } from '../lib/format.ts'
import { FileLink } from './file-link.tsx'

type Fact = readonly [name: string, value: preact.ComponentChildren]

/** What is known of the chat, and from where. */
export function Side({ chat }: { chat: ChatDetail }) {
  const isWide = matchMedia('(min-width: 70rem)').matches
  return (
    <aside class="side" aria-label="About this chat">
      <details open={isWide}>
        <summary>About this chat</summary>
        <dl class="facts">
          {factsOf(chat).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
        <Files chat={chat} />
        <Tools chat={chat} />
        <Subagents chat={chat} />
      </details>
    </aside>
  )
}

const unknown = <span class="soft">unknown</span>

const by = (source: string | null) =>
  source === null ? null : <span class="soft"> by {source.replaceAll('-', ' ')}</span>

function factsOf(chat: ChatDetail): Fact[] {
  const { project, contextTokens: context } = chat
  const lines =
    chat.linesAdded === null && chat.linesRemoved === null
      ? unknown
      : `+${count(chat.linesAdded)} −${count(chat.linesRemoved)}`
  return [
    [
      'Project',
      project === null ? (
        unknown
      ) : (
        <>
          <a href={projectAddress(project.id)}>{project.name}</a>
          {by(chat.projectSource)}
        </>
      ),
    ],
    ...(chat.machine === null
      ? []
      : [['Machine', `${visible(chat.machine.name)} of ${visible(chat.machine.user)}`] as const]),
    ['Began', chat.createdAt === null ? unknown : moment(chat.createdAt)],
    ['Last activity', chat.lastActivityAt === null ? unknown : moment(chat.lastActivityAt)],
    [
      'Model',
      chat.models.length === 0 ? (
        unknown
      ) : (
        <>
          {chat.models.join(', ')}
          {by(chat.modelSource)}
        </>
      ),
    ],
    ['Mode', chat.mode ?? unknown],
    ...(chat.branch === null ? [] : [['Branch', chat.branch] as const]),
    ...(chat.worktree === null ? [] : [['Working tree', chat.worktree.path] as const]),
    ['Messages', `${count(chat.messageCount)}, ${plural(chat.userMessageCount, 'prompt')}`],
    ['Tool calls', count(chat.toolCallCount)],
    ['Lines', lines],
    [
      'Context',
      context === null || context.used === null ? unknown : `${count(context.used)} of ${count(context.limit)} tokens`,
    ],
    ['Tokens', tokensOf(chat)],
    ['Cost', chat.recordedCostCents === null ? unknown : `${cents(chat.recordedCostCents)}, recorded`],
    ['Size', bytes(chat.sizeBytes)],
    ['Source', `${chat.source.replaceAll('-', ' ')}, ${chat.format}`],
  ]
}

function tokensOf({ tokens: { recorded, estimated } }: ChatDetail) {
  const parts = [
    ...(recorded === null ? [] : [`${count(recorded.input)} in, ${count(recorded.output)} out, recorded`]),
    ...(estimated === null ? [] : [`${count(estimated.input)} in, ${count(estimated.output)} out, estimated`]),
  ]
  return parts.length === 0 ? unknown : parts.join('; ')
}

const SHOWN = 8

function Files({ chat }: { chat: ChatDetail }) {
  const [isWhole, setWhole] = useState(false)
  if (chat.files.length === 0) return null
  const shown = isWhole ? chat.files : chat.files.slice(0, SHOWN)
  return (
    <section>
      <h2>Files</h2>
      <ul class="side-list">
        {shown.map(({ path, reads, edits, attached }) => (
          <li key={path}>
            <FileLink path={path} isShort />
            <span class="soft">
              {[reads > 0 && `${reads} read`, edits > 0 && `${edits} edit`, attached > 0 && `${attached} attached`]
                .filter(Boolean)
                .join(', ')}
            </span>
          </li>
        ))}
      </ul>
      {shown.length < chat.files.length && (
        <button type="button" class="quiet" onClick={() => setWhole(true)}>
          All {count(chat.files.length)} files
        </button>
      )}
    </section>
  )
}

const Tools = ({ chat }: { chat: ChatDetail }) =>
  chat.toolCounts.length === 0 ? null : (
    <section>
      <h2>Tools</h2>
      <ul class="side-list">
        {chat.toolCounts.slice(0, 12).map(({ name, calls, errors }) => (
          <li key={name}>
            <span class="break">{name}</span>
            <span class="soft">
              {count(calls)}
              {errors > 0 && <span class="failed">, {errors} failed</span>}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )

const Subagents = ({ chat }: { chat: ChatDetail }) =>
  chat.children.length === 0 ? null : (
    <section>
      <h2>Subagents</h2>
      <ul class="side-list">
        {chat.children.map((child) => (
          <li key={child.id}>
            <a href={chatAddress(child.id)}>{visible(cut(child.title, 80))}</a>
            <span class="soft">{count(child.messageCount)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
