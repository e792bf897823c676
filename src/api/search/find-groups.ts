import type { Mirror } from '../../mirror/open.ts'
import { COUNTED_MAX } from './count-messages.ts'
import type { Deadline } from './deadline.ts'
import { findMessages, foundTitle } from './find-page.ts'
import type { TitleHit } from './find-titles.ts'
import type { Found } from './hit.ts'
import type { QueryPlan } from './plan/plan.ts'
import type { SearchRequest } from './request.ts'

/** A chat's best message, and how many of its messages were found. A title counts as one. */
export interface Group {
  readonly best: Found
  readonly matchCount: number
}

export interface Groups {
  readonly page: readonly Group[]
  /** How many chats. */
  readonly total: number
  readonly isExact: boolean
}

/** One item a chat, in the order of their best messages. At most the newest 100,000 messages are looked at. */
export function findGroups(
  db: Mirror,
  plan: QueryPlan,
  titles: readonly TitleHit[],
  request: Pick<SearchRequest, 'sort' | 'limit' | 'offset'>,
  deadline: Deadline,
): Groups {
  const { sort, offset, limit } = request
  const isRanked = sort === 'relevance' && plan.hasWords
  const messages = findMessages(db, plan, sort, COUNTED_MAX, deadline)
  const isBetter = isRanked
    ? (a: Found, b: Found) => b.score - a.score || b.key - a.key
    : (a: Found, b: Found) => (sort === 'oldest' ? a.key - b.key : b.key - a.key)
  const groups = new Map<number, { best: Found; matchCount: number }>()
  const chats = chatsOf(db, messages)
  for (const [index, message] of messages.entries()) {
    const chat = chats[index] ?? 0
    const group = groups.get(chat)
    if (group === undefined) groups.set(chat, { best: message, matchCount: 1 })
    else {
      group.matchCount += 1
      if (isBetter(message, group.best) < 0) group.best = message
    }
  }
  // A title stands for a chat of which no message was found.
  const all = [...groups.values(), ...titles.map((hit) => ({ best: foundTitle(hit, isRanked), matchCount: 1 }))]
  const sorted = all.sort((a, b) => isBetter(a.best, b.best))
  const isExact = messages.length < COUNTED_MAX && !deadline.hasPassed()
  return { page: sorted.slice(offset, offset + limit), total: all.length, isExact }
}

const CHATS_OF_KEYS = `
  select m.chat from json_each(@keys) k left join messages m on m.key = k.value order by k.key
`

function chatsOf(db: Mirror, messages: readonly Found[]): readonly number[] {
  const keys = JSON.stringify(messages.map((message) => message.key))
  return db.prepare<[object], number>(CHATS_OF_KEYS).pluck().all({ keys })
}
