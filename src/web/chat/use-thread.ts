import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { ChatDetail } from '../../api/answers/chats.ts'
import type { Page } from '../../api/answers/common.ts'
import type { Message, MessagePage } from '../../api/answers/messages.ts'
import { api, ApiError } from '../lib/api.ts'
import { useLoader, useServer } from '../lib/hooks.ts'
import { firstOf, type MessageQuery, PAGE, pageOf } from './ahead.ts'

interface Loaded {
  readonly items: readonly Message[]
  /** Place of the first item in the thread. */
  readonly offset: number
  readonly total: number
  /** Grows when other messages take the place of those that were shown. */
  readonly round: number
}

export interface ThreadState extends Loaded {
  readonly error: unknown
  readonly isLoading: boolean
  readonly loadBefore: () => void
  readonly loadAfter: () => void
  readonly loadEnd: () => void
}

const NOTHING: Loaded = { items: [], offset: 0, total: 0, round: 0 }

/** The messages of a chat, 200 at a time: around the target, then before and after it as they are wanted. */
export function useThread(id: string, chat: ChatDetail | null, target: string | null): ThreadState {
  const [loaded, setLoaded] = useState(NOTHING)
  const { error, isLoading, load: loadOne, isBusy } = useLoader()
  /** @param isUrgent ends what is loading; else it waits for the next occasion */
  const load = async (
    query: MessageQuery,
    merge: (old: Loaded, page: Page<Message>) => Loaded,
    isUrgent = false,
  ): Promise<void> => {
    if (isBusy() && !isUrgent) return
    await loadOne(async (signal) => {
      const page = await whole(id, query, signal)
      setLoaded((old) => merge(old, page))
    })
  }
  // Not `useEffect`: it waits for the next frame before the request is sent.
  useLayoutEffect(() => {
    if (loaded.items.length > 0 && (target === null || loaded.items.some((message) => message.id === target))) return
    void load(firstOf(target), replaced, true)
  }, [target, useServer()])
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
async function whole(id: string, query: MessageQuery, signal: AbortSignal): Promise<Page<Message>> {
  const ask = (more: MessageQuery): Promise<MessagePage> =>
    api.get('/api/chats/:id/messages', { id, signal, query: pageOf({ ...query, ...more }) })
  const first = await ask({})
  const items = [...first.items]
  const wanted = query.limit ?? PAGE
  for (let next = first.nextOffset; next !== null && query.offset !== undefined && items.length < wanted;) {
    const page = await ask({ offset: next, limit: wanted - items.length })
    items.push(...page.items)
    next = page.nextOffset
  }
  return { ...first, items }
}

const replaced = (old: Loaded, { items, offset, total }: Page<Message>): Loaded => ({
  items,
  offset,
  total,
  round: old.round + 1,
})

/** A page that touches the shown ones extends them; its messages are the newer ones. Another one is dropped. */
function merged(old: Loaded, page: Page<Message>): Loaded {
  const isApart = page.offset > old.offset + old.items.length || page.offset + page.items.length < old.offset
  if (isApart) return old
  const newer = new Set(page.items.map(({ id }) => id))
  const kept = old.items.filter(({ id }) => !newer.has(id))
  const before = page.offset < old.offset
  const cutAt = page.offset - old.offset
  const items = before ? [...page.items, ...kept] : [...kept.slice(0, cutAt), ...page.items, ...kept.slice(cutAt)]
  return { items, offset: Math.min(old.offset, page.offset), total: page.total, round: old.round }
}
