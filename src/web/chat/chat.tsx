import { useLocation, useRoute } from 'preact-iso'
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks'
import type { ChatDetail } from '../../api/answers/chats.ts'
import { ApiError } from '../lib/api.ts'
import { cut, plural, titleOf, visible } from '../lib/format.ts'
import { useData, useKeyDown, useKeys, useLive, useTitle } from '../lib/hooks.ts'
import { Failure, Loading, MachineTag, Notice, When } from '../lib/parts.tsx'
import { listAddress } from '../search/asked.ts'
import { targetOfAddress } from './ahead.ts'
import { PathsOf } from './code.tsx'
import { FindBar } from './find-bar.tsx'
import { goTo, messageInSight, toEnd } from './go-to.ts'
import { rowsOf } from './rows.ts'
import { ShareMenu } from './share-menu.tsx'
import { Side } from './side.tsx'
import { type Folds, Thread } from './thread-view.tsx'
import { type ThreadState, useThread } from './use-thread.ts'
import { Changes, Prompts } from './views.tsx'
import { type Spot, useFound, useFileFacts, useOutline } from './whole.ts'
import '../styles/chat.css'

export default function ChatScreen() {
  const { params } = useRoute()
  const id = params['id'] ?? ''
  // Another chat gets another state.
  return <OneChat key={id} id={id} />
}

const VIEWS = [
  ['all', 'All'],
  ['prompts', 'Prompts'],
  ['changes', 'Changes'],
] as const
type ViewName = (typeof VIEWS)[number][0]

function OneChat({ id }: { id: string }) {
  const { query } = useRoute()
  const { route, url } = useLocation()
  // What is looked for in the chat: what found it, until one looks for something else.
  const q = query['find'] ?? query['q'] ?? ''
  const view = VIEWS.find(([name]) => name === query['view'])?.[0] ?? 'all'
  const chat = useData('/api/chats/:id', { id })
  useTitle(chat.data === null ? '' : titleOf(chat.data.title))
  useLive('chat', (events) => {
    if (events.some((event) => event['id'] === id)) chat.reload()
  })
  const [folds, setFolds] = useState<Folds>({ all: null, byKey: new Map() })
  const reading = useReading(chat.data, id, q, view)
  const facts = useFileFacts(chat.data, reading.thread.items.length > 0)
  const [isFinding, setFinding] = useState(false)
  const go = (changes: { find?: string; view?: ViewName; hash?: string }): void => {
    const { find = query['find'], view: next = view, hash = location.hash } = changes
    const params = new URL(url, location.origin).searchParams
    params.delete('find')
    params.delete('view')
    // An empty one hides the hits of the search that opened the chat.
    if (find !== undefined && find !== (query['q'] ?? '')) params.set('find', find)
    if (next !== 'all') params.set('view', next)
    route(`${location.pathname}${params.size === 0 ? '' : `?${params}`}${hash}`, true)
  }
  const toggleAll = (): void => setFolds(({ all }) => ({ all: all !== true, byKey: new Map() }))
  const { thread, hits, outline, target, show: showHere } = reading
  const show = (messageId: string): void => {
    if (view === 'all') showHere(messageId)
    else go({ view: 'all', hash: `#${encodeURIComponent(messageId)}` })
  }
  const showNext = (spots: readonly Spot[], by: 1 | -1): void => {
    const next = stepIn(spots, target, by)
    if (next !== undefined) show(next)
  }
  useFindKey(() => setFinding(true))
  useKeys((key) => {
    const steps: Readonly<Record<string, () => string | undefined>> = {
      n: () => stepIn(hits.spots, target, 1),
      p: () => stepIn(hits.spots, target, -1),
      f: () => stepIn(outline.failures, target, 1),
      J: () => promptFrom(outline.prompts, thread, 1),
      K: () => promptFrom(outline.prompts, thread, -1),
    }
    if (key === 'e') toggleAll()
    // At once: on its way the browser would meet rows that grow, and stop before the end.
    if (key === 'Home') scrollTo({ top: 0, behavior: 'instant' })
    if (key === 'End') toEnd()
    const next = steps[key]?.()
    if (next !== undefined) show(next)
    else if (key === 'J') thread.loadAfter()
    else if (key === 'K') thread.loadBefore()
    return ['e', 'Home', 'End'].includes(key) || key in steps
  })
  if (chat.error instanceof ApiError && chat.error.status === 404) return <UnknownChat />
  if (chat.data === null) {
    return (
      <main id="main" class="column">
        {chat.error === null ? <Loading what="the chat" /> : <Failure error={chat.error} retry={chat.reload} />}
      </main>
    )
  }
  return (
    <PathsOf.Provider value={chat.data.project?.id ?? null}>
      <main id="main" class="chat">
        <ChatHead chat={chat.data} back={listAddress(url)} />
        <div class="chat-bar" role="toolbar" aria-label="This chat">
          <ShareMenu chat={chat.data} />
          <button type="button" onClick={() => setFinding(true)}>
            Find
          </button>
          <span class="views segments" role="group" aria-label="View">
            {VIEWS.map(([name, words]) => (
              <button key={name} type="button" aria-pressed={view === name} onClick={() => go({ view: name })}>
                {words}
              </button>
            ))}
          </span>
          {view === 'all' && (
            <button type="button" aria-pressed={folds.all === true} onClick={toggleAll}>
              {folds.all === true ? 'Fold all' : 'Expand all'}
            </button>
          )}
          {outline.failures.length > 0 && (
            <button type="button" class="failures" onClick={() => showNext(outline.failures, 1)}>
              {plural(outline.failures.length, 'failure')} ↓
            </button>
          )}
        </div>
        <Side chat={chat.data} outline={outline} hits={hits.spots} facts={facts} target={target} show={show} />
        {view === 'all' && (
          <Thread
            rows={reading.rows}
            thread={thread}
            chat={chat.data}
            folds={folds}
            q={q}
            places={reading.places}
            notes={<Notes chat={chat.data} />}
          />
        )}
        {view === 'prompts' && <Prompts chat={chat.data} show={show} />}
        {view === 'changes' && <Changes chat={chat.data} show={show} facts={facts} />}
        {(q !== '' || isFinding) && (
          <FindBar
            q={q}
            hits={hits}
            target={target}
            find={(words) => go({ find: words })}
            step={(by) => showNext(hits.spots, by)}
            isFinding={isFinding}
            close={() => {
              setFinding(false)
              go({ find: '' })
            }}
          />
        )}
      </main>
    </PathsOf.Provider>
  )
}

const UnknownChat = () => (
  <main id="main" class="column">
    <Notice title="No such chat">
      <p>
        No chat has this id. It may not be read yet, or it was purged. <a href="/">Search your chats</a>
      </p>
    </Notice>
  </main>
)

/** The messages, what the whole chat has, and the message that is looked at. All are asked for at once. */
function useReading(chat: ChatDetail | null, id: string, q: string, view: ViewName) {
  const { url } = useLocation()
  const [target, setTarget] = useState(targetOfAddress)
  const thread = useThread(id, chat, target)
  const hits = useFound(id, chat?.messageCount ?? 0, q === '' ? null : q)
  const outline = useOutline(chat, id, thread)
  const rows = useMemo(() => rowsOf(thread.items, thread.offset === 0), [thread.items, thread.offset])
  const places = useRef({ startOf: (_index: number): number => 0 }).current
  const isShown = chat !== null && view === 'all'
  useEffect(() => {
    const read = (): void => setTarget(targetOfAddress())
    read()
    addEventListener('hashchange', read)
    return () => removeEventListener('hashchange', read)
  }, [url])
  // A search without a message begins at its first hit.
  useEffect(() => {
    if (target === null && hits.spots[0] !== undefined) setTarget(hits.spots[0].id)
  }, [hits])
  const [again, showAgain] = useReducer<number, void>((old) => old + 1, 0)
  const latest = useRef(rows)
  latest.current = rows
  // Before the first paint: else the messages at the top are rendered first, and for nothing.
  useLayoutEffect(() => {
    if (!isShown || target === null || !rows.some(({ message }) => message.id === target)) return
    goTo(target, () => places.startOf(latest.current.findIndex(({ message }) => message.id === target)))
  }, [target, thread.round, isShown, again])
  const show = (messageId: string): void => {
    history.replaceState(null, '', `${location.pathname}${location.search}#${encodeURIComponent(messageId)}`)
    setTarget(messageId)
    // Another target is gone to when it is shown.
    if (messageId === target) showAgain()
  }
  return { thread, rows, hits, outline, target, show, places }
}

function stepIn(spots: readonly Spot[], current: string | null, step: number): string | undefined {
  const at = current === null ? -1 : spots.findIndex(({ id }) => id === current)
  if (at < 0) return (step > 0 ? spots[0] : spots.at(-1))?.id
  return spots[(at + step + spots.length) % spots.length]?.id
}

/** The prompt after or before the place that is read now; it may not be loaded yet. */
function promptFrom(prompts: readonly Spot[], { items, offset, total }: ThreadState, step: 1 | -1): string | undefined {
  const current = messageInSight()
  const own = prompts.findIndex(({ id }) => id === current)
  if (own >= 0) return prompts[own + step]?.id
  const read = (offset + items.findIndex(({ id }) => id === current)) / Math.max(1, total - 1)
  return (step > 0 ? prompts.find(({ at }) => at > read) : prompts.findLast(({ at }) => at < read))?.id
}

/** Finding in the chat takes the place of the browser's own find, which sees only what is on the screen. Pressed twice, that opens. */
function useFindKey(open: () => void): void {
  useKeyDown((event) => {
    if (event.key.toLowerCase() !== 'f' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey)
      return false
    if (document.activeElement?.closest('.find-bar, dialog[open]') !== null) return false
    open()
    document.querySelector<HTMLInputElement>('.find-bar input')?.select()
    return true
  })
}

const ChatHead = ({ chat, back }: { chat: ChatDetail; back: string }) => (
  <div class="chat-head">
    <p class="inline">
      <a class="to-list" href={back}>
        ‹ Chats
      </a>
      {chat.project !== null && <a href={`/projects/${encodeURIComponent(chat.project.id)}`}>{chat.project.name}</a>}
      <When at={chat.lastActivityAt} />
      <span>{plural(chat.messageCount, 'message')}</span>
      {chat.model !== null && <span>{chat.model}</span>}
      {chat.mode !== null && <span>{visible(cut(chat.mode, 40))}</span>}
      {chat.running && <span class="tag live">agent at work</span>}
      <MachineTag machine={chat.machine} />
      {chat.isArchived && <span class="tag">archived in Cursor</span>}
      {chat.deletedInCursor && <span class="tag kept">deleted in Cursor, kept here</span>}
    </p>
    <h1 title={chat.title} dir="auto">
      {titleOf(chat.title)}
    </h1>
  </div>
)

const Notes = ({ chat }: { chat: ChatDetail }) => (
  <>
    {chat.deletedInCursor && (
      <p class="explain">Cursor no longer has this chat. What you see is the copy that cursordex kept.</p>
    )}
    {chat.parentChatId !== null && (
      <p class="explain">
        A subagent of <a href={`/chats/${encodeURIComponent(chat.parentChatId)}`}>another chat</a>.
      </p>
    )}
  </>
)
