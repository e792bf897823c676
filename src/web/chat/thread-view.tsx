import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks'
import type { ChatDetail } from '../../api/answers/chats.ts'
import type { Message } from '../../api/answers/messages.ts'
import type { AttachmentPart, Part } from '../../model/part.ts'
import { request } from '../lib/api.ts'
import { compact, count, duration, moment, plural, shortPath, visible } from '../lib/format.ts'
import { Failure, Loading, Notice } from '../lib/parts.tsx'
import { Code, FileLink } from './code.tsx'
import { markWords, toEnd } from './go-to.ts'
import { Markdown } from './markdown-view.tsx'
import type { Row, TurnHead } from './rows.ts'
import { Step, TodoList } from './step.tsx'
import { startsOpen } from './tools.ts'
import type { ThreadState } from './use-thread.ts'
import { Value } from './value.tsx'
import { type RowWindow, useWindow } from './use-window.ts'

/** What the reader opened and closed. Rows leave the document and come back, so they cannot remember it. */
export interface Folds {
  /** What one press opened or closed; null: each row as it is at first. */
  all: boolean | null
  readonly byKey: Map<string, boolean>
}

interface ThreadProps {
  readonly rows: readonly Row[]
  readonly thread: ThreadState
  readonly chat: ChatDetail
  readonly folds: Folds
  readonly q: string
  /** Filled with where a row begins in the page. */
  readonly places: { startOf: RowWindow['startOf'] }
  /** What is said of the whole chat, above its messages. */
  readonly notes: ComponentChildren
}

export function Thread({ rows, thread, chat, folds, q, places, notes }: ThreadProps) {
  const list = useRef<HTMLDivElement>(null)
  const { shown, above, below, measure, startOf } = useWindow(rows, list)
  places.startOf = startOf
  const end = thread.offset + thread.items.length
  const range = `${shown[0]?.row.key} ${shown.at(-1)?.row.key}`
  useEffect(() => {
    const timer = setTimeout(() => markWords(q), 120)
    return () => clearTimeout(timer)
  }, [q, range])
  return (
    <section class="thread" aria-label="Messages">
      {notes}
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
      <div ref={list}>
        <div class="space" style={{ height: `${above}px` }} />
        {shown.map(({ row, index }) => (
          <div key={row.key} class={`row ${row.kind}`} data-row={row.key} data-index={index} ref={measure}>
            <RowView row={row} chat={chat} folds={folds} />
          </div>
        ))}
        <div class="space" style={{ height: `${below}px` }} />
      </div>
      {end < thread.total && (
        <Edge
          act={thread.loadAfter}
          isLoading={thread.isLoading}
          text={`${count(thread.total - end)} later messages`}
        />
      )}
      <Newest thread={thread} isAtEnd={end >= thread.total} rows={rows} />
    </section>
  )
}

const NEAR = 80

/** Follows a growing chat while one is at its end; else says how many messages came. */
function Newest({ thread, isAtEnd, rows }: { thread: ThreadState; isAtEnd: boolean; rows: readonly Row[] }) {
  const follows = useRef(false)
  const [seen, setSeen] = useState<number | null>(null)
  useEffect(() => {
    const look = (): void => {
      const { scrollHeight } = document.documentElement
      follows.current = isAtEnd && scrollHeight > innerHeight && scrollY + innerHeight >= scrollHeight - NEAR
      if (follows.current) setSeen(thread.total)
    }
    look()
    addEventListener('scroll', look, { passive: true })
    return () => removeEventListener('scroll', look)
  }, [isAtEnd, thread.total])
  const wasLoaded = useRef(false)
  useLayoutEffect(() => {
    if (!wasLoaded.current) wasLoaded.current = rows.length > 0
    else if (follows.current && isAtEnd) toEnd()
  }, [rows])
  useEffect(() => {
    if (seen === null && thread.total > 0) setSeen(thread.total)
  }, [thread.total])
  const fresh = seen === null ? 0 : thread.total - seen
  const show = (): void => {
    if (!isAtEnd) thread.loadEnd()
    follows.current = true
    setSeen(thread.total)
    toEnd()
  }
  return fresh <= 0 ? null : (
    <button type="button" class="newest" onClick={show}>
      {plural(fresh, 'new message')} ↓
    </button>
  )
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
export function whyGone(message: Message, chat: ChatDetail): string | null {
  if (message.isOrphan) {
    return 'Cursor no longer shows this message: it was regenerated or rolled back. cursordex kept it.'
  }
  const isLost = message.deletedInCursor && !chat.deletedInCursor
  return isLost ? 'Cursor deleted this message. cursordex kept it.' : null
}

function RowView({ row, chat, folds }: { row: Row; chat: ChatDetail; folds: Folds }) {
  const [, draw] = useReducer<number, void>((old) => old + 1, 0)
  const { key, message } = row
  const gone = whyGone(message, chat)
  const setOpen = (isOpen: boolean): void => {
    folds.byKey.set(key, isOpen)
    draw()
  }
  const isOpen = (atFirst: boolean): boolean => folds.byKey.get(key) ?? folds.all ?? atFirst
  if (row.kind === 'prompt') {
    return <Prompt message={message} chat={chat} isWhole={isOpen(false)} showAll={() => setOpen(true)} />
  }
  const head = row.head === null ? null : <AgentHead head={row.head} />
  if (row.kind === 'words') {
    return (
      <>
        {head}
        <Said message={message} gone={gone} name="Answer">
          {row.parts.map((part, index) => (
            <PartView key={index} part={part} isUser={false} />
          ))}
        </Said>
      </>
    )
  }
  const { part, isAfterStep, isBeforeStep } = row
  return (
    <>
      {head}
      <div class={`steps${isAfterStep ? '' : ' first'}${isBeforeStep ? '' : ' last'}`}>
        <Step
          message={message}
          part={part}
          gone={gone}
          isOpen={isOpen(part.kind === 'tool' && startsOpen(part))}
          setOpen={setOpen}
        />
      </div>
    </>
  )
}

/** What a message says, without its steps. */
const Said = ({
  message,
  gone,
  name,
  children,
}: {
  message: Message
  gone: string | null
  name: string
  children: ComponentChildren
}) => (
  <article
    class={`said ${message.role === 'user' ? 'user' : 'agent'}${gone === null ? '' : ' gone'}`}
    data-message={message.id}
    tabIndex={-1}
    aria-label={name}
  >
    {gone !== null && <p class="explain">{gone}</p>}
    {children}
  </article>
)

const FOLDED_ABOVE = 40
const FOLDED_TO = 12

/** A long prompt shows its first lines: often a log or a file was pasted into it. */
export function Prompt({
  message,
  chat,
  isWhole,
  showAll,
}: {
  message: Message
  chat: ChatDetail
  isWhole: boolean
  showAll: () => void
}) {
  const user = chat.machine === null ? null : visible(chat.machine.user)
  const lines = message.parts.reduce((sum, part) => sum + (part.kind === 'text' ? linesIn(part.text) : 0), 0)
  const isFolded = lines > FOLDED_ABOVE && !isWhole
  return (
    <Said
      message={message}
      gone={whyGone(message, chat)}
      name={message.isSimulated ? 'Sent by Cursor' : user === null ? 'Your prompt' : `Prompt of ${user}`}
    >
      <header class="inline said-head">
        <b>{message.isSimulated ? `Cursor, for ${user ?? 'you'}` : (user ?? 'You')}</b>
        <span>{message.createdAt === null ? 'time unknown' : moment(message.createdAt)}</span>
        {message.tokens !== null && <TokenSum source={message.tokens.source} sum={message.tokens} />}
        <Anchor id={message.id} />
      </header>
      {message.parts.map((part, index) => (
        <PartView key={index} part={isFolded ? beginningOf(part) : part} isUser />
      ))}
      {isFolded && (
        <button type="button" class="quiet" onClick={showAll}>
          Show all {count(lines)} lines
        </button>
      )}
    </Said>
  )
}

/** Lines as they are shown: a very long one counts as several. */
const linesIn = (text: string): number =>
  text.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / 100)), 0)

const beginningOf = (part: Part): Part =>
  part.kind === 'text' ? { ...part, text: part.text.split('\n').slice(0, FOLDED_TO).join('\n').slice(0, 1600) } : part

const Anchor = ({ id }: { id: string }) => (
  <a class="anchor" href={`#${encodeURIComponent(id)}`} aria-label="Link to this message">
    #
  </a>
)

const AgentHead = ({ head: { message, model, durationMs, tokens } }: { head: TurnHead }) => (
  <header class="inline said-head agent-head">
    <b>Agent</b>
    {model !== null && <span>{model}</span>}
    {durationMs !== null && durationMs >= 1000 && <span title={moment(message.createdAt)}>{duration(durationMs)}</span>}
    {[...tokens].map(([source, sum]) => (
      <TokenSum key={source} source={source} sum={sum} />
    ))}
    <Anchor id={message.id} />
  </header>
)

const TokenSum = ({ source, sum }: { source: string; sum: { input: number | null; output: number | null } }) => (
  <span title={`${count(sum.input)} in, ${count(sum.output)} out`}>
    {compact((sum.input ?? 0) + (sum.output ?? 0))} tokens {source}
  </span>
)

function PartView({ part, isUser }: { part: Part; isUser: boolean }) {
  switch (part.kind) {
    case 'text':
      return <Markdown text={part.text} isPlain={isUser} />
    case 'code':
      return <Code text={part.text} language={part.language} path={part.path} />
    case 'attachment':
      return <Attachment {...part} />
    case 'todo':
      return <TodoList items={part.items} />
    case 'plan':
    case 'summary':
      return (
        <details open={part.kind === 'plan'}>
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
    default:
      return <Value value={part.kind === 'thinking' ? part.text : [part.input, part.output]} />
  }
}

const Attachment = ({ path, text, href }: AttachmentPart) =>
  text === null ? (
    <p>
      <span class="soft">Attached</span> <FileLink path={path} />
      {href !== undefined && <AttachedImage href={href} name={shortPath(path)} />}
    </p>
  ) : (
    <details>
      <summary>
        <span class="soft">Attached</span> {visible(shortPath(path))}
      </summary>
      <Code text={text} language={null} path={path} />
    </details>
  )

/** An attached image, while its file is there. It is fetched, because an image of the document would send no token. */
function AttachedImage({ href, name }: { href: string; name: string }) {
  const [source, setSource] = useState<string | null>(null)
  useEffect(() => {
    const abort = new AbortController()
    const load = async (): Promise<void> => {
      const image = await (await request(href, { signal: abort.signal })).blob()
      const reader = new FileReader()
      reader.addEventListener('load', () => setSource(typeof reader.result === 'string' ? reader.result : null))
      reader.readAsDataURL(image)
    }
    // Without its image the name of the file is there.
    load().catch(() => undefined)
    return () => abort.abort()
  }, [href])
  return source === null ? null : <img class="attached-image" src={source} alt={name} />
}
