import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { ChatDetail } from '../../api/answers/chats.ts'
import type { Page } from '../../api/answers/common.ts'
import type { Message, MessagePage } from '../../api/answers/messages.ts'
import { ApiError, get, isAbort, queryOf, token } from '../lib/api.ts'
import { connections } from '../lib/live.ts'

export interface ThreadState {
  readonly items: readonly Message[]
  /** Place of the first item in the thread. */
  readonly offset: number
  readonly total: number
  readonly error: unknown
  readonly isLoading: boolean
  /** Grows when other messages take the place of those that were shown. */
  readonly round: number
  readonly loadBefore: () => void
  readonly loadAfter: () => void
  readonly loadEnd: () => void
}

const PAGE = 200

interface Loaded {
  readonly items: readonly Message[]
  readonly offset: number
  readonly total: number
  readonly round: number
}

const NOTHING: Loaded = { items: [], offset: 0, total: 0, round: 0 }

/** The messages of a chat, 200 at a time: around the target, then before and after it as they are wanted. */
export function useThread(base: string, chat: ChatDetail | null, target: string | null): ThreadState {
  const [loaded, setLoaded] = useState(NOTHING)
  const [error, setError] = useState<unknown>(null)
  const [isLoading, setLoading] = useState(true)
  const running = useRef<AbortController | null>(null)
  /** @param isUrgent ends what is loading; else it waits for the next occasion */
  const load = async (
    params: object,
    merge: (old: Loaded, page: Page<Message>) => Loaded,
    isUrgent = false,
  ): Promise<void> => {
    if (running.current !== null && !isUrgent) return
    running.current?.abort()
    const controller = new AbortController()
    running.current = controller
    setLoading(true)
    try {
      const path = `${base}/messages${queryOf({ includeOrphans: true, limit: PAGE, ...params })}`
      const page = await whole(path, controller.signal)
      setLoaded((old) => merge(old, page))
      setError(null)
    } catch (caught) {
      if (!isAbort(caught)) setError(caught)
    }
    if (running.current !== controller) return
    running.current = null
    setLoading(false)
  }
  // Not `useEffect`: it waits for the next frame before the request is sent.
  useLayoutEffect(() => {
    if (loaded.items.length > 0 && (target === null || loaded.items.some(({ id }) => id === target))) return
    void load(target === null ? { offset: 0 } : { around: target }, replaced, true)
  }, [target, Math.max(1, connections.value), token.value])
  useEffect(() => () => running.current?.abort(), [])
  // The message that a link names may be gone: the chat is still there.
  useEffect(() => {
    const isGone = error instanceof ApiError && error.code === 'message-not-found'
    if (isGone && loaded.items.length === 0) void load({ offset: 0 }, replaced)
  }, [error])
  // The chat's facts are read again when it changes: its last messages follow.
  const changed = chat === null ? null : `${chat.messageCount} ${chat.sizeBytes} ${chat.lastActivityAt} ${chat.status}`
  const known = useRef<string | null>(null)
  useEffect(() => {
    const isFirst = known.current === null
    known.current = changed
    if (isFirst || chat === null) return
    const end = loaded.offset + loaded.items.length
    if (end >= loaded.total) void load({ offset: Math.max(loaded.offset, end - 40) }, merged)
    else setLoaded((old) => ({ ...old, total: Math.max(old.total, chat.messageCount) }))
  }, [changed])
  return {
    ...loaded,
    error: error instanceof ApiError && error.code === 'message-not-found' ? null : error,
    isLoading,
    loadBefore: () => {
      const offset = Math.max(0, loaded.offset - PAGE)
      if (loaded.offset > 0) void load({ offset, limit: loaded.offset - offset }, merged)
    },
    loadAfter: () => {
      const end = loaded.offset + loaded.items.length
      if (end < loaded.total) void load({ offset: end }, merged)
    },
    loadEnd: () => void load({ offset: Math.max(0, loaded.total - PAGE) }, replaced, true),
  }
}

/** An answer has at most 8 MB. What it lacks is asked for, so that it touches what is loaded below it. */
async function whole(path: string, signal: AbortSignal): Promise<Page<Message>> {
  const { pathname, searchParams: query } = new URL(path, location.origin)
  const first = await get<MessagePage>(path, signal)
  const items = [...first.items]
  let { nextOffset } = first
  const wanted = Number(query.get('limit'))
  while (nextOffset !== null && query.has('offset') && items.length < wanted) {
    query.set('offset', String(nextOffset))
    query.set('limit', String(wanted - items.length))
    const next: MessagePage = await get<MessagePage>(`${pathname}?${query}`, signal)
    items.push(...next.items)
    nextOffset = next.nextOffset
  }
  return { ...first, items }
}

const replaced = (old: Loaded, { items, offset, total }: Page<Message>): Loaded => ({
  items,
  offset,
  total,
  round: old.round + 1,
})

/** A page that touches the shown ones extends them; its messages are the newer ones. */
function merged(old: Loaded, page: Page<Message>): Loaded {
  const newer = new Set(page.items.map(({ id }) => id))
  const kept = old.items.filter(({ id }) => !newer.has(id))
  const before = page.offset < old.offset
  const cutAt = page.offset - old.offset
  const items = before ? [...page.items, ...kept] : [...kept.slice(0, cutAt), ...page.items, ...kept.slice(cutAt)]
  return { items, offset: Math.min(old.offset, page.offset), total: page.total, round: old.round }
}
