import { useLayoutEffect, useState } from 'preact/hooks'
import type { Chat } from '../../api/answers/chats.ts'
import type { SearchAnswer, SearchHit } from '../../api/answers/search.ts'
import { api, type QueryOf } from '../lib/api.ts'
import { keep, useLoader, useServer } from '../lib/hooks.ts'
import { type Asked, askedWhileTyping, isTyping } from './asked.ts'

/** Chats that were found: a list of all chats, or the hits of a search. */
export interface Found {
  readonly key: string
  readonly items: readonly (Chat | SearchHit)[]
  readonly total: number
  readonly isExact: boolean
  /** The first answer of a search; null for a list of chats. */
  readonly answer: SearchAnswer | null
  readonly isEnd: boolean
  /** How far the list is scrolled, in pixels; null before it was. */
  scrollTop: number | null
}

export const isHit = (item: Chat | SearchHit): item is SearchHit => 'snippet' in item
export const chatOf = (item: Chat | SearchHit): { readonly id: string } => (isHit(item) ? item.chat : item)

/** Filters by which chats can be listed; any other one searches messages. */
const OF_CHATS: ReadonlySet<string> = new Set(['project', 'model', 'mode', 'branch', 'machine', 'from', 'to'])
/** The largest offset that the search accepts. */
export const OFFSET_MAX = 10_000
const LIMIT_MAX = 200

interface Request {
  readonly key: string
  /** How many are asked for at first, and when the end comes near. A screen is filled without a second question. */
  readonly first: number
  readonly step: number
  ask(limit: number, offset: number, signal: AbortSignal): Promise<Omit<Found, 'key' | 'isEnd' | 'scrollTop'>>
}

export const isListing = ({ q, filters }: Asked): boolean =>
  q.trim() === '' && Object.keys(filters).every((name) => OF_CHATS.has(name))

/** The parameters of a search, without its order. */
export const searchQuery = ({ q, filters: { from, to, ...filters } }: Asked): QueryOf<'/api/search'> =>
  ({ q, ...filters, from: from?.[0], to: to?.[0] }) as QueryOf<'/api/search'>

function requestOf(asked: Asked): Request {
  const { q: _, ...filters } = searchQuery(asked)
  if (isListing(asked)) {
    const sort = (asked.sort === '' ? null : asked.sort) as 'oldest' | null
    return {
      key: JSON.stringify([filters, sort]),
      first: 40,
      step: 60,
      async ask(limit, offset, signal) {
        const query = { ...(filters as QueryOf<'/api/chats'>), sort, limit, offset }
        const { items, total } = await api.get('/api/chats', { query, signal })
        return { items, total, isExact: true, answer: null }
      },
    }
  }
  const q = isTyping.value ? askedWhileTyping(asked.q) : asked.q
  const sort = asked.sort === 'newest' || asked.sort === 'oldest' ? asked.sort : null
  return {
    key: JSON.stringify([filters, sort, q]),
    first: 20,
    step: 40,
    async ask(limit, offset, signal) {
      const query = { ...filters, q, sort, group: 'chat', limit, offset } as const
      const answer = await api.get('/api/search', { query, signal })
      return { items: answer.items, total: answer.total, isExact: answer.totalIsExact, answer }
    },
  }
}

/** What was found before, by its request: Back shows it at once, and is asked for again meanwhile. */
const kept = new Map<string, Found>()

/** @param place in the list that is wanted at first, such as that of the open chat */
export function useFound(asked: Asked, place: number) {
  const request = requestOf(asked)
  const { key } = request
  const [state, setFound] = useState<Found | null>(null)
  const [round, setRound] = useState(0)
  const { error, isLoading, load, isBusy } = useLoader()
  // What is known of the address is shown in the same frame.
  const found = kept.get(key) ?? state
  const loadPage = (limit: number, offset: number): Promise<void> =>
    load(async (signal) => {
      const page = await request.ask(limit, offset, signal)
      const old = kept.get(key)
      // A chat that is written meanwhile may move to another page.
      const fresh = new Set(page.items.map((item) => chatOf(item).id))
      const others = (offset === 0 ? old?.items.slice(limit) : old?.items)?.filter(
        (item) => !fresh.has(chatOf(item).id),
      )
      const isLast = page.items.length < limit
      const items = offset > 0 ? [...(others ?? []), ...page.items] : [...page.items, ...(isLast ? [] : (others ?? []))]
      const answer = offset === 0 ? page.answer : (old?.answer ?? null)
      const isEnd = isLast || (answer === null && items.length >= page.total)
      setFound(keep(kept, key, { ...page, key, items, answer, isEnd, scrollTop: old?.scrollTop ?? null }))
    })
  // Not `useEffect`: it waits for the next frame before the request is sent.
  useLayoutEffect(() => {
    const wanted = Math.max(request.first, place + request.first, kept.get(key)?.items.length ?? 0)
    void loadPage(Math.min(LIMIT_MAX, wanted), 0)
  }, [key, round, useServer()])
  return {
    found,
    error,
    isLoading,
    /** False while what is shown answers an earlier search. */
    isCurrent: found?.key === key,
    reload: () => setRound((old) => old + 1),
    loadMore: () => {
      const offset = found?.items.length ?? 0
      if (!isBusy() && found?.key === key && offset <= OFFSET_MAX) void loadPage(request.step, offset)
    },
  }
}
