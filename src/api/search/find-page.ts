import type { Mirror } from '../../mirror/open.ts'
import type { Alike } from './count-alike.ts'
import {
  COUNTED_MAX,
  countMessages,
  isExclusion,
  newestMessages,
  type Count,
  type Newest,
} from './match/count-messages.ts'
import type { Deadline } from './deadline.ts'
import type { EveryHit } from './every-hit.ts'
import { titlesBeside, type TitleHit, type TitleHits } from './titles/find-titles.ts'
import type { Found } from './hit.ts'
import type { QueryPlan } from './plan/plan.ts'
import { rankMatches, type RankedMessage } from './match/rank.ts'
import type { SearchRequest } from './request.ts'
import type { Scorer } from './scorer.ts'
import type { TitleCandidate } from './titles/title-candidates.ts'
import type { TimeOrder } from './match/steps.ts'
import { walkMessages } from './match/walk.ts'
import { valuesOf } from './match/statement.ts'

/** One page of the answer: messages and title hits in one order. */
export interface Page {
  readonly found: readonly Found[]
  readonly total: number
  readonly isExact: boolean
  /** Keys of the newest matching messages, as far as known, and the number of title hits besides them. */
  readonly newest: readonly number[]
  readonly titles: number
}

type PageOptions = Pick<SearchRequest, 'sort' | 'limit' | 'offset'>

/** @param scorer null if the order is by time */
export function findPage(
  db: Mirror,
  plan: QueryPlan,
  options: PageOptions,
  scorer: Scorer | null,
  deadline: Deadline,
): Page {
  return scorer === null
    ? pageByTime(db, plan, options, options.sort === 'oldest' ? 'oldest' : 'newest', deadline)
    : pageByRank(db, plan, options, scorer, deadline)
}

const foundMessage = (key: number, { score, parts }: Omit<RankedMessage, 'key'> = { score: 0 }): Found => ({
  key,
  score,
  titled: null,
  parts,
})

const foundTitle = ({ key, title, summary }: TitleHit, score = 0): Found => ({
  key,
  score,
  titled: { title, summary },
})

function pageByTime(db: Mirror, plan: QueryPlan, options: PageOptions, order: TimeOrder, deadline: Deadline): Page {
  const end = options.offset + options.limit
  const isDown = order === 'newest'
  const isCounted = isExclusion(plan.branches)
  const newest = newestMessages(db, plan.branches, Math.max(isCounted ? 0 : COUNTED_MAX, isDown ? end : 0), deadline)
  const keys = isDown || newest.isWhole ? inOrder(newest.keys, order) : firstKeys(db, plan, order, end, deadline)
  const edge = keys[end - 1] ?? (isDown ? 0 : Infinity)
  const titles = titlesBeside(db, plan, newest, { by: order, edge }, deadline)
  const sign = isDown ? -1 : 1
  const listed = [...keys.slice(0, end).map((key) => foundMessage(key)), ...titles.hits.map((hit) => foundTitle(hit))]
  const count =
    isCounted && !newest.isWhole
      ? countMessages(db, plan.branches, deadline)
      : { count: newest.keys.length, isExact: newest.isWhole }
  const sorted = listed.sort((a, b) => sign * (a.key - b.key))
  return pageOf(sorted, titles, count, options, newest)
}

const inOrder = (keys: readonly number[], order: TimeOrder): readonly number[] =>
  order === 'newest' ? keys : keys.toReversed()

function firstKeys(db: Mirror, plan: QueryPlan, order: TimeOrder, rows: number, deadline: Deadline): readonly number[] {
  const keys: number[] = []
  for (const key of walkMessages(db, plan.branches, order, deadline, rows)) {
    keys.push(key)
    if (keys.length >= rows) break
  }
  return keys
}

function pageByRank(db: Mirror, plan: QueryPlan, options: PageOptions, scorer: Scorer, deadline: Deadline): Page {
  const end = options.offset + options.limit
  const ranking = rankMatches(db, plan.branches, scorer, deadline)
  const newest = { keys: ranking.newest, isWhole: ranking.isWhole }
  const scoreOf = ({ title, summary }: Pick<TitleCandidate, 'title' | 'summary'>): number =>
    scorer.scoreTitle(Infinity, title, summary)
  const edge = ranking.messages[end - 1]?.score ?? 0
  const titles = titlesBeside(db, plan, newest, { by: 'score', edge, scoreOf }, deadline)
  const best = [
    ...ranking.messages.map((message) => foundMessage(message.key, message)),
    ...titles.hits.map((hit) => foundTitle(hit, scorer.scoreTitle(hit.key, hit.title, hit.summary))),
  ].sort((a, b) => b.score - a.score || b.key - a.key)
  const older = best.length < end && !ranking.isWhole ? olderMessages(db, plan, best, end, deadline) : []
  const count = { count: ranking.newest.length, isExact: ranking.isWhole }
  return pageOf([...best, ...older], titles, count, options, newest)
}

/** Only the newest matches are ranked. The others follow by time. */
function olderMessages(
  db: Mirror,
  plan: QueryPlan,
  ranked: readonly Found[],
  end: number,
  deadline: Deadline,
): readonly Found[] {
  const known = new Set(ranked.filter(({ titled }) => titled === null).map(({ key }) => key))
  const { keys } = newestMessages(db, plan.branches, end + known.size, deadline)
  return keys.filter((key) => !known.has(key)).map((key) => foundMessage(key))
}

function pageOf(
  listed: readonly Found[],
  titles: TitleHits,
  messages: Count,
  { offset, limit }: PageOptions,
  newest: Newest,
): Page {
  const found = listed.slice(offset, offset + limit)
  const count = messages.count + titles.hits.length
  const isExact = messages.isExact && titles.isWhole && count <= COUNTED_MAX
  return {
    found,
    total: Math.max(Math.min(COUNTED_MAX, count), found.length === 0 ? 0 : offset + found.length),
    isExact,
    newest: newest.keys,
    titles: titles.hits.length,
  }
}

/** A chat's best message, and how many of its messages match. A title counts as one. */
export interface Group {
  readonly best: Found
  readonly matchCount: number
  readonly matchCountIsExact: boolean
}

export interface Groups {
  readonly page: readonly Group[]
  /** How many chats. */
  readonly total: number
  readonly isExact: boolean
}

/** One item per chat, in the order of their best messages. @param scorer null if the order is by time */
export function findGroups(
  db: Mirror,
  plan: QueryPlan,
  { sort, offset, limit }: Pick<SearchRequest, 'sort' | 'limit' | 'offset'>,
  scorer: Scorer | null,
  { newest, alike, titles: beside, isIndexed }: EveryHit,
  deadline: Deadline,
): Groups {
  const ranked = scorer === null ? [] : rankMatches(db, plan.branches, scorer, deadline).messages
  const isBetter =
    scorer !== null
      ? (a: Found, b: Found) => b.score - a.score || b.key - a.key
      : (a: Found, b: Found) => (sort === 'oldest' ? a.key - b.key : b.key - a.key)
  // A title represents a chat without a matching message.
  const titles = beside.hits.map(({ key, title, summary }) => ({
    best: { key, score: scorer?.scoreTitle(key, title, summary) ?? 0, titled: { title, summary } },
    matchCount: 1,
  }))
  const matchCountIsExact = newest.isWhole && isIndexed
  const edge = newest.isWhole ? 0 : (newest.keys.at(-1) ?? 0)
  const groups = groupByChat(db, alike, ranked, edge, isBetter)
  const all = [...groups, ...titles].sort((a, b) => isBetter(a.best, b.best))
  return {
    page: all.slice(offset, offset + limit).map((group) => ({ ...group, matchCountIsExact })),
    total: all.length,
    isExact: newest.isWhole && beside.isWhole && !deadline.hasPassed(),
  }
}

/** @param edge older ranked messages are not among the alike ones */
function groupByChat(
  db: Mirror,
  alike: readonly Alike[],
  ranked: readonly RankedMessage[],
  edge: number,
  isBetter: (a: Found, b: Found) => number,
): readonly Omit<Group, 'matchCountIsExact'>[] {
  const groups = new Map<number, { best: Found; matchCount: number }>()
  const add = (chat: number, message: Found, count: number): void => {
    const group = groups.get(chat)
    if (group === undefined) groups.set(chat, { best: message, matchCount: count })
    else {
      group.matchCount += count
      if (isBetter(message, group.best) < 0) group.best = message
    }
  }
  for (const { chat, firstKey, lastKey, count } of alike) {
    add(chat, foundMessage(lastKey), count)
    add(chat, foundMessage(firstKey), 0)
  }
  const chats = chatsOf(db, ranked)
  for (const [index, message] of ranked.entries()) {
    add(chats[index] ?? 0, foundMessage(message.key, message), message.key < edge ? 1 : 0)
  }
  return [...groups.values()]
}

// A left join walks the keys in their order.
const CHATS_OF_KEYS = `
  select m.chat from json_each(@keys) k left join messages m indexed by message_facts on m.key = k.value
`

const chatsOf = (db: Mirror, messages: readonly RankedMessage[]): readonly number[] =>
  valuesOf<number>(db, CHATS_OF_KEYS).all({ keys: JSON.stringify(messages.map(({ key }) => key)) })
