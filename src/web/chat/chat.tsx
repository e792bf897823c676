import { useLocation, useRoute } from 'preact-iso'
import { useEffect, useLayoutEffect, useMemo, useState } from 'preact/hooks'
import type { ChatDetail } from '../../api/answers/chats.ts'
import type { Page } from '../../api/answers/common.ts'
import type { SearchAnswer, SearchHit } from '../../api/answers/search.ts'
import { ApiError, getList, queryOf } from '../lib/api.ts'
import { count, cut, plural, visible } from '../lib/format.ts'
import { useData, useKeys, useLive, useTitle } from '../lib/hooks.ts'
import { Failure, Loading, MachineTag, Notice, When } from '../lib/parts.tsx'
import { ExportMenu } from './export-menu.tsx'
import { currentPrompt, goTo } from './go-to.ts'
import { Side } from './side.tsx'
import { rowsOf } from './rows.ts'
import { Thread } from './thread-view.tsx'
import { type ThreadState, useThread } from './use-thread.ts'
import '../styles/chat.css'
import '../styles/side.css'

const decodedHash = (): string | null => {
  const text = location.hash.slice(1)
  if (text === '') return null
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

export default function ChatScreen() {
  const { params, query } = useRoute()
  const id = params['id'] ?? ''
  // Another chat gets another state.
  return <OneChat key={id} id={id} q={query['q'] ?? ''} />
}

function OneChat({ id, q }: { id: string; q: string }) {
  const base = `/api/chats/${encodeURIComponent(id)}`
  const chat = useData<ChatDetail>(base)
  useTitle(cut(chat.data?.title ?? '', 120))
  useLive(['chat', 'loss'], (data) => {
    if (data['id'] === undefined || data['id'] === id) chat.reload()
  })
  const reading = useReading(base, chat.data, id, q)
  if (chat.error instanceof ApiError && chat.error.status === 404) return <UnknownChat />
  if (chat.data === null) {
    return (
      <main id="main" class="column">
        {chat.error === null ? <Loading what="the chat" /> : <Failure error={chat.error} retry={chat.reload} />}
      </main>
    )
  }
  const { thread, hits, target, show } = reading
  return (
    <main id="main" class="chat">
      <ChatHead chat={chat.data} />
      <Side chat={chat.data} />
      <Thread rows={rowsOf(thread.items, thread.seams)} thread={thread} chat={chat.data} target={target} />
      {hits.ids.length > 0 && <HitBar hits={hits} target={target} show={show} />}
    </main>
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

/** The messages, the hits in them, and the one that is looked at. All are asked for at once. */
function useReading(base: string, chat: ChatDetail | null, id: string, q: string) {
  const { url } = useLocation()
  const [target, setTarget] = useState(decodedHash)
  const thread = useThread(base, chat, target)
  const hits = useHits(id, q)
  const isShown = chat !== null
  useEffect(() => {
    const read = (): void => setTarget(decodedHash())
    read()
    addEventListener('hashchange', read)
    return () => removeEventListener('hashchange', read)
  }, [url])
  // A search without a message begins at its first hit.
  useEffect(() => {
    if (target === null && hits.ids[0] !== undefined) setTarget(hits.ids[0])
  }, [hits])
  // Before the first paint: else the messages at the top are rendered first, and for nothing.
  useLayoutEffect(() => {
    if (isShown && target !== null && thread.items.some((message) => message.id === target)) goTo(target, q)
  }, [target, thread.round, isShown])
  const show = (messageId: string): void => {
    history.replaceState(null, '', `${location.pathname}${location.search}#${encodeURIComponent(messageId)}`)
    setTarget(messageId)
    // Another target is gone to when it is shown.
    if (messageId === target) goTo(messageId, q)
  }
  useChatKeys(thread, hits.ids, target, show)
  return { thread, hits, target, show }
}

interface FoundHits {
  readonly ids: readonly string[]
  /** How many there are, as the page says it. */
  readonly total: string
}

/** The search counts no further. */
const HITS_MAX = 1000

/** This chat's messages that the search finds, in their order. */
function useHits(id: string, q: string): FoundHits {
  const path = `/api/search${queryOf({ q, chat: id, sort: 'oldest', limit: HITS_MAX })}`
  const { data } = useData(q === '' ? null : path, getList<SearchAnswer & Page<SearchHit>>)
  return useMemo(() => {
    const ids = data?.items.map(({ message }) => message.id) ?? []
    return { ids, total: `${data?.totalIsExact === false ? 'at least ' : ''}${count(data?.total)}` }
  }, [data])
}

function stepIn(list: readonly string[], current: string | null, step: number): string | undefined {
  const at = current === null ? -1 : list.indexOf(current)
  if (at < 0) return step > 0 ? list[0] : list.at(-1)
  return list[(at + step + list.length) % list.length]
}

function useChatKeys(
  thread: ThreadState,
  hits: readonly string[],
  target: string | null,
  show: (id: string) => void,
): void {
  useKeys((key) => {
    if (key === 'n' || key === 'p') {
      const next = stepIn(hits, target, key === 'n' ? 1 : -1)
      if (next !== undefined) show(next)
      return true
    }
    if (key !== 'J' && key !== 'K') return false
    const prompts = thread.items
      .filter(({ role, isSimulated }) => role === 'user' && !isSimulated)
      .map(({ id }) => id as string)
    const next = currentPrompt(prompts, key === 'J' ? 1 : -1)
    if (next !== undefined) show(next)
    else if (key === 'J') thread.loadAfter()
    else thread.loadBefore()
    return true
  })
}

const ChatHead = ({ chat }: { chat: ChatDetail }) => (
  <div class="chat-head">
    <h1>{visible(cut(chat.title, 300))}</h1>
    <p class="hit-facts">
      {chat.project !== null && <a href={`/projects/${encodeURIComponent(chat.project.id)}`}>{chat.project.name}</a>}
      <When at={chat.lastActivityAt} />
      <span>{plural(chat.messageCount, 'message')}</span>
      {chat.model !== null && <span>{chat.model}</span>}
      {chat.status === 'generating' && <span class="tag live">agent at work</span>}
      <MachineTag machine={chat.machine} />
      {chat.isArchived && <span class="tag">archived in Cursor</span>}
      {chat.deletedInCursor && <span class="tag lost">deleted in Cursor</span>}
    </p>
    {chat.deletedInCursor && (
      <p class="explain">Cursor no longer has this chat. What you see is the copy that cursordex kept.</p>
    )}
    {chat.parentChatId !== null && (
      <p class="explain">
        A subagent of <a href={`/chats/${encodeURIComponent(chat.parentChatId)}`}>another chat</a>.
      </p>
    )}
    <ExportMenu chat={chat} />
  </div>
)

function HitBar({
  hits: { ids, total },
  target,
  show,
}: {
  hits: FoundHits
  target: string | null
  show: (id: string) => void
}) {
  const at = target === null ? -1 : ids.indexOf(target)
  const go = (step: number): void => {
    const next = stepIn(ids, target, step)
    if (next !== undefined) show(next)
  }
  return (
    <div class="hit-bar" role="group" aria-label="Hits in this chat">
      <span aria-live="polite">
        {at < 0 ? `${total} ${total === '1' ? 'hit' : 'hits'}` : `Hit ${count(at + 1)} of ${total}`}
      </span>
      <button type="button" onClick={() => go(-1)}>
        <kbd aria-hidden="true">p</kbd> Previous
      </button>
      <button type="button" onClick={() => go(1)}>
        <kbd aria-hidden="true">n</kbd> Next
      </button>
    </div>
  )
}
