import type { Mirror } from '../../mirror/open.ts'
import type { Deadline } from './deadline.ts'
import { newestMessages } from './match/count-messages.ts'
import { titlesBeside } from './titles/find-titles.ts'
import type { Found } from './hit.ts'
import type { QueryPlan } from './plan/plan.ts'
import { rankMatches } from './match/rank.ts'
import type { SearchRequest } from './request.ts'
import type { Scorer } from './score/scorer.ts'
import { valuesOf } from './match/statement.ts'

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

/** So many of the newest messages found are gathered. */
const GATHERED_MAX = 20_000

/** One item a chat, in the order of their best messages. @param scorer null where nothing is to be ranked */
export function findGroups(
  db: Mirror,
  plan: QueryPlan,
  { sort, offset, limit }: Pick<SearchRequest, 'sort' | 'limit' | 'offset'>,
  scorer: Scorer | null,
  deadline: Deadline,
): Groups {
  const newest = newestMessages(db, plan.branches, GATHERED_MAX, deadline)
  const ranked = scorer === null ? [] : rankMatches(db, plan.branches, scorer, deadline).messages
  const scores = new Map(ranked.map(({ key, score }) => [key, score]))
  const messages = [...new Set([...newest.keys, ...scores.keys()])].map((key): Found => ({
    key,
    score: scores.get(key) ?? 0,
    titled: null,
  }))
  const isBetter =
    scorer !== null
      ? (a: Found, b: Found) => b.score - a.score || b.key - a.key
      : (a: Found, b: Found) => (sort === 'oldest' ? a.key - b.key : b.key - a.key)
  // A title stands for a chat of which no message was found.
  const beside = titlesBeside(db, plan, newest, null, deadline)
  const titles = beside.hits.map(({ key, title, summary }) => ({
    best: { key, score: scorer?.scoreTitle(key, title, summary) ?? 0, titled: { title, summary } },
    matchCount: 1,
  }))
  const all = [...gather(db, messages, isBetter), ...titles].sort((a, b) => isBetter(a.best, b.best))
  return {
    page: all.slice(offset, offset + limit),
    total: all.length,
    isExact: newest.isWhole && beside.isWhole && !deadline.hasPassed(),
  }
}

function gather(db: Mirror, messages: readonly Found[], isBetter: (a: Found, b: Found) => number): readonly Group[] {
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
  return [...groups.values()]
}

const CHATS_OF_KEYS = `
  select m.chat from json_each(@keys) k left join messages m indexed by chat_of_message on m.key = k.value order by k.key
`

function chatsOf(db: Mirror, messages: readonly Found[]): readonly number[] {
  const keys = JSON.stringify(messages.map((message) => message.key))
  return valuesOf<number>(db, CHATS_OF_KEYS).all({ keys })
}
