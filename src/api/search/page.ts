import type { Mirror } from '../../mirror/open.ts'
import type { Alike, EveryHit } from './facets.ts'
import type { Found } from './hit.ts'
import type { Plan } from './plan.ts'
import { rankMatches, type RankedMessage } from './rank.ts'
import type { SearchRequest } from './request.ts'
import type { Scorer } from './scorer.ts'
import { COUNTED_MAX, keysOf, newestMessages, statementOf, type Newest, type TimeOrder } from './statement.ts'
import { titlesBeside, type Title, type TitleHits } from './titles.ts'

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
export function findPage(db: Mirror, plan: Plan, options: PageOptions, scorer: Scorer | null): Page {
  return scorer === null
    ? pageByTime(db, plan, options, options.sort === 'oldest' ? 'oldest' : 'newest')
    : pageByRank(db, plan, options, scorer)
}

const foundMessage = ({ key, score = 0, parts }: Partial<RankedMessage> & { readonly key: number }): Found => ({
  key,
  score,
  titled: null,
  parts,
})

const foundTitle = ({ key, title, summary }: Title, scorer: Scorer | null): Found => ({
  key,
  score: scorer?.scoreTitle(key, title, summary) ?? 0,
  titled: { title, summary },
})

function pageByTime(db: Mirror, plan: Plan, options: PageOptions, order: TimeOrder): Page {
  const end = options.offset + options.limit
  const isDown = order === 'newest'
  const newest = newestMessages(db, plan.messages, Math.max(COUNTED_MAX, isDown ? end : 0))
  const oldest = newest.isWhole ? newest.keys.toReversed() : keysOf(db, plan.messages, end, { order })
  const keys = isDown ? newest.keys : oldest
  const titles = titlesBeside(db, plan, newest, { by: order, edge: keys[end - 1] ?? (isDown ? 0 : Infinity) })
  const listed = [
    ...keys.slice(0, end).map((key) => foundMessage({ key })),
    ...titles.hits.map((hit) => foundTitle(hit, null)),
  ]
  const sorted = listed.sort((a, b) => (isDown ? b.key - a.key : a.key - b.key))
  return pageOf(sorted, titles, options, newest)
}

function pageByRank(db: Mirror, plan: Plan, options: PageOptions, scorer: Scorer): Page {
  const end = options.offset + options.limit
  const { messages, newest: keys, isWhole } = rankMatches(db, plan, scorer)
  const scoreOf = ({ title, summary }: Title): number => scorer.scoreTitle(Infinity, title, summary)
  const titles = titlesBeside(db, plan, { keys, isWhole }, { by: 'score', scoreOf })
  const best = [...messages.map(foundMessage), ...titles.hits.map((hit) => foundTitle(hit, scorer))].sort(byScore)
  // Only the newest matches are ranked. The others follow by time.
  const ranked = new Set(messages.map(({ key }) => key))
  const older = best.length < end && !isWhole ? keysOf(db, plan.messages, end + ranked.size) : []
  const rest = older.filter((key) => !ranked.has(key)).map((key) => foundMessage({ key }))
  return pageOf([...spread(db, best), ...rest], titles, options, { keys, isWhole })
}

/** Of so many first hits by relevance, only so many are of one chat, if others match. */
const FIRST = 10
const OF_ONE_CHAT = 2
/** The chats of so many hits are looked up at once. */
const LOOKED_UP = 32

/** The same hits, the first of them from several chats. No hit has a higher score than one before it. */
function spread(db: Mirror, found: readonly Found[]): readonly Found[] {
  const [first, later]: [Found[], Found[]] = [[], []]
  const counts = new Map<number, number>()
  for (let at = 0; at < found.length && first.length < FIRST; at += LOOKED_UP) {
    const some = found.slice(at, at + LOOKED_UP)
    for (const [index, chat] of chatsOf(db, some).entries()) {
      const [hit, count] = [some[index], counts.get(chat) ?? 0]
      counts.set(chat, count + 1)
      if (hit !== undefined) (first.length < FIRST && count < OF_ONE_CHAT ? first : later).push(hit)
    }
  }
  let least = Infinity
  return [...first, ...later, ...found.slice(first.length + later.length)].map((hit) => {
    least = Math.min(least, hit.score)
    return { ...hit, score: least }
  })
}

const byScore = (a: Found, b: Found): number => b.score - a.score || b.key - a.key

function pageOf(
  listed: readonly Found[],
  titles: TitleHits,
  { offset, limit }: Pick<PageOptions, 'offset' | 'limit'>,
  { keys, isWhole }: Newest,
): Page {
  const found = listed.slice(offset, offset + limit)
  const count = keys.length + titles.hits.length
  return {
    found,
    total: Math.max(Math.min(COUNTED_MAX, count), found.length === 0 ? 0 : offset + found.length),
    isExact: isWhole && titles.isWhole && count <= COUNTED_MAX,
    newest: keys,
    titles: titles.hits.length,
  }
}

/** A chat's best message, and how many of its messages match. A title counts as one. */
interface Group {
  best: Found
  matchCount: number
}

export interface Groups {
  readonly page: readonly (Group & { readonly matchCountIsExact: boolean })[]
  /** How many chats. */
  readonly total: number
  readonly isExact: boolean
}

/** One item per chat, in the order of their best messages. @param scorer null if the order is by time */
export function findGroups(
  db: Mirror,
  plan: Plan,
  { sort, offset, limit }: PageOptions,
  scorer: Scorer | null,
  { newest, alike, titles, isIndexed }: EveryHit,
): Groups {
  const ranked = scorer === null ? [] : rankMatches(db, plan, scorer).messages
  const byTime = (a: Found, b: Found): number => (sort === 'oldest' ? a.key - b.key : b.key - a.key)
  const isBetter = scorer === null ? byTime : byScore
  const groups = groupByChat(db, alike, ranked, newest.isWhole ? 0 : (newest.keys.at(-1) ?? 0), isBetter)
  // A title represents a chat without a matching message.
  const all = [...groups, ...titles.hits.map((hit) => ({ best: foundTitle(hit, scorer), matchCount: 1 }))]
  const page = all.sort((a, b) => isBetter(a.best, b.best)).slice(offset, offset + limit)
  return {
    page: page.map((group) => ({ ...group, matchCountIsExact: newest.isWhole && isIndexed })),
    total: all.length,
    isExact: newest.isWhole && titles.isWhole,
  }
}

/** @param edge older ranked messages are not among the alike ones */
function groupByChat(
  db: Mirror,
  alike: readonly Alike[],
  ranked: readonly RankedMessage[],
  edge: number,
  isBetter: (a: Found, b: Found) => number,
): readonly Group[] {
  const groups = new Map<number, Group>()
  const add = (chat: number, message: Found, count: number): void => {
    const group = groups.get(chat)
    if (group === undefined) groups.set(chat, { best: message, matchCount: count })
    else {
      group.matchCount += count
      if (isBetter(message, group.best) < 0) group.best = message
    }
  }
  for (const { chat, firstKey, lastKey, count } of alike) {
    add(chat, foundMessage({ key: lastKey }), count)
    add(chat, foundMessage({ key: firstKey }), 0)
  }
  const chats = chatsOf(db, ranked)
  for (const [index, message] of ranked.entries()) {
    add(chats[index] ?? 0, foundMessage(message), message.key < edge ? 1 : 0)
  }
  return [...groups.values()]
}

// A left join walks the keys in their order.
const CHATS_OF_KEYS = `
  select m.chat from json_each(?) k left join messages m indexed by message_facts on m.key = k.value
`

const chatsOf = (db: Mirror, messages: readonly Pick<RankedMessage, 'key'>[]): readonly number[] =>
  statementOf<number>(db, CHATS_OF_KEYS, 'values').all(JSON.stringify(messages.map(({ key }) => key)))
