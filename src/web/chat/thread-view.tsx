import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { ChatDetail } from '../../api/answers/chats.ts'
import type { Message } from '../../api/answers/messages.ts'
import type { Part } from '../../model/part.ts'
import { compact, count, duration, shortPath, visible } from '../lib/format.ts'
import { Failure, Loading, Notice, When } from '../lib/parts.tsx'
import { Code, LongText } from './code.tsx'
import { FileLink } from './file-link.tsx'
import { Markdown } from './markdown-view.tsx'
import type { Call, Row } from './rows.ts'
import { Run } from './run.tsx'
import type { ThreadState } from './use-thread.ts'

interface ThreadProps {
  readonly rows: readonly Row[]
  readonly thread: ThreadState
  readonly chat: ChatDetail
  readonly target: string | null
}

export function Thread({ rows, thread, chat, target }: ThreadProps) {
  const end = thread.offset + thread.items.length
  useHeldPlace(thread.seams)
  return (
    <section class="thread" aria-label="Messages">
      {thread.offset > 0 && (
        <Edge act={thread.loadBefore} isLoading={thread.isLoading} text={`${count(thread.offset)} earlier messages`} />
      )}
      {thread.items.length === 0 && thread.isLoading && <Loading what="messages" />}
      {thread.error !== null && <Failure error={thread.error} />}
      {thread.items.length === 0 && !thread.isLoading && thread.error === null && (
        <Notice title="No messages">
          <p>This chat has no message that can be read.</p>
        </Notice>
      )}
      {rows.map((row) =>
        row.kind === 'run' ? (
          <RunOrGone key={row.key} calls={row.calls} chat={chat} target={target} />
        ) : (
          <Said key={row.key} row={row} chat={chat} />
        ),
      )}
      {end < thread.total && (
        <Edge
          act={thread.loadAfter}
          isLoading={thread.isLoading}
          text={`${count(thread.total - end)} later messages`}
        />
      )}
    </section>
  )
}

/** The first row in sight and where it stands. */
function rowInSight(): { row: Element; top: number } | null {
  const rows = [...document.querySelectorAll('.thread > :not(.more)')]
  const row = rows.find((each) => each.getBoundingClientRect().bottom > 0)
  return row === undefined ? null : { row, top: row.getBoundingClientRect().top }
}

/** What is read stays where it is when earlier messages come above it. */
function useHeldPlace(seams: ThreadState['seams']): void {
  // While the document still has the old rows.
  const held = useMemo(rowInSight, [seams])
  useLayoutEffect(() => {
    const hold = (frames: number): void => {
      if (held?.row.isConnected !== true) return
      const moved = held.row.getBoundingClientRect().top - held.top
      if (moved !== 0) scrollBy({ top: moved, behavior: 'instant' })
      if (frames > 0) requestAnimationFrame(() => hold(frames - 1))
    }
    // Without a seam, other messages took the place of the old ones, and `goTo` scrolls.
    if (seams.length === 0) return
    // At the very top new rows are in sight at once, and get their exact height in the next frames.
    hold(scrollY === 0 ? 3 : 0)
  }, [held])
}

/** Loads more when it comes near; the button is for the keyboard. */
function Edge({ act, isLoading, text }: { act: () => void; isLoading: boolean; text: string }) {
  const button = useRef<HTMLButtonElement>(null)
  const latest = useRef(act)
  latest.current = act
  // Not `useEffect`: the old observer would tell once more of a place that is no longer so.
  useLayoutEffect(() => {
    if (button.current === null) return undefined
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) latest.current()
      },
      { rootMargin: '600px' },
    )
    observer.observe(button.current)
    return () => observer.disconnect()
  }, [isLoading])
  return (
    <button ref={button} type="button" class="more" disabled={isLoading} onClick={act}>
      {isLoading ? 'Loading…' : `Show ${text}`}
    </button>
  )
}

/** Why a message is marked; null for one that Cursor shows, or whose whole chat is marked. */
function whyGone(message: Message, chat: ChatDetail): string | null {
  if (message.isOrphan) {
    return 'Cursor no longer shows this message: it was regenerated or rolled back. cursordex kept it.'
  }
  const isLost = message.deletedInCursor && !chat.deletedInCursor
  return isLost ? 'Cursor deleted this message. cursordex kept it.' : null
}

/** A message that is gone has a run of its own, so its first call tells for all. */
function RunOrGone({ calls, chat, target }: { calls: readonly Call[]; chat: ChatDetail; target: string | null }) {
  const gone = calls[0] === undefined ? null : whyGone(calls[0].message, chat)
  if (gone === null) return <Run calls={calls} target={target} />
  return (
    <div class="gone">
      <p class="explain">{gone}</p>
      <Run calls={calls} target={target} />
    </div>
  )
}

function Said({ row, chat }: { row: Extract<Row, { kind: 'said' }>; chat: ChatDetail }) {
  const { message, parts, isFirst } = row
  const isUser = message.role === 'user'
  const gone = whyGone(message, chat)
  const user = chat.machine === null ? null : visible(chat.machine.user)
  return (
    <article
      class={`said ${isUser ? 'user' : 'agent'}${gone === null ? '' : ' gone'}`}
      data-message={message.id}
      tabIndex={-1}
      aria-label={isUser ? (user === null ? 'Your prompt' : `Prompt of ${user}`) : 'Answer'}
    >
      {isFirst && <SaidHead message={message} user={user} />}
      {gone !== null && <p class="explain">{gone}</p>}
      {parts.map((part, index) => (
        <PartView key={index} part={part} isUser={isUser} />
      ))}
    </article>
  )
}

/** @param user who wrote the prompts; null: the person at this machine */
const SaidHead = ({ message, user }: { message: Message; user: string | null }) => (
  <header class="said-head">
    <b>
      {message.role === 'user' ? (message.isSimulated ? `Cursor, for ${user ?? 'you'}` : (user ?? 'You')) : 'Agent'}
    </b>
    {message.model !== null && <span>{message.model}</span>}
    <When at={message.createdAt} />
    {message.tokens !== null && (
      <span title={`${count(message.tokens.input)} in, ${count(message.tokens.output)} out`}>
        {compact((message.tokens.input ?? 0) + (message.tokens.output ?? 0))} tokens, {message.tokens.source}
      </span>
    )}
    <a class="anchor" href={`#${encodeURIComponent(message.id)}`} aria-label="Link to this message">
      #
    </a>
  </header>
)

function PartView({ part, isUser }: { part: Part; isUser: boolean }) {
  switch (part.kind) {
    case 'text':
      return <Markdown text={part.text} isPlain={isUser} />
    case 'code':
      return <Code text={part.text} language={part.language} path={part.path} />
    case 'attachment':
      return <Attachment path={part.path} text={part.text} />
    case 'todo':
      return (
        <ul class="todos">
          {part.items.map((item, index) => (
            <li key={index} data-status={item.status ?? 'unknown'}>
              <span class="hidden">{item.status ?? 'state unknown'}: </span>
              {visible(item.content)}
            </li>
          ))}
        </ul>
      )
    case 'plan':
    case 'summary':
      return (
        <details class="fold" open={part.kind === 'plan'}>
          <summary>{part.kind === 'summary' ? 'Summary by Cursor' : `Plan ${visible(part.title ?? '')}`}</summary>
          <Markdown text={part.text} isPlain={false} />
        </details>
      )
    case 'error':
      return (
        <p class="error-part">
          <b>Error.</b> {visible(part.text)}
        </p>
      )
    case 'thinking':
      return (
        <details class="fold">
          <summary>Thinking{part.durationMs === null ? '' : `, ${duration(part.durationMs)}`}</summary>
          <LongText text={part.text} />
        </details>
      )
    default:
      return <LongText text={JSON.stringify(part.input)} />
  }
}

const Attachment = ({ path, text }: { path: string; text: string | null }) =>
  text === null ? (
    <p class="attachment">
      <span class="soft">Attached</span> <FileLink path={path} />
    </p>
  ) : (
    <details class="fold">
      <summary>
        <span class="soft">Attached</span> {visible(shortPath(path))}
      </summary>
      <Code text={text} language={null} path={path} />
    </details>
  )
