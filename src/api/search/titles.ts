import type { Mirror } from '../../mirror/open.ts'
import { planQuery, type Plan } from './plan.ts'
import { type QueryNode, filterNodes, type SearchRequest } from './query.ts'
import {
  chatsOfMessages,
  chatsWithMatch,
  COUNTED_MAX,
  newestMessages,
  statementOf,
  testOf,
  type Newest,
  type Target,
} from './statement.ts'

/** A chat whose title or summary matches. */
export interface Title {
  readonly num: number
  /** Key of the message that represents the chat: the first of the thread that passes the filters. */
  readonly key: number
  readonly title: string
  readonly summary: string | null
}

/** Chats by title, of whose messages none matches. */
export interface TitleHits {
  readonly hits: readonly Title[]
  /** False if more titles match than were looked at. Only meaningful if all matching messages are known. */
  readonly isWhole: boolean
}

/** Which title hits are wanted if there are too many messages to return all. */
export type WantedTitles =
  /** The hits with the best scores. */
  | { readonly by: 'score'; readonly scoreOf: (title: Title) => number }
  /** Hits that come before the last message of the page. */
  | { readonly by: 'newest' | 'oldest'; readonly edge: number }

/** How many titles are looked at, the latest. */
export const TITLES_MAX = 1000
/** The same if more messages match than are counted. */
const BESIDE_MANY_MAX = 200
/** The same by relevance: how many are scored, and how many of the best are looked up among the messages. */
const SCORED_MAX = 100
const LOOKED_UP_MAX = 5

/**
 * The title hits in addition to messages that were found.
 * @param wanted null: all; of the latest 200 chats if not all messages are known. Ignored if they are
 */
export function titlesBeside(db: Mirror, plan: Plan, newest: Newest, wanted: WantedTitles | null): TitleHits {
  if (newest.isWhole) {
    const titled = findTitles(db, plan.titles, TITLES_MAX)
    const known = new Set(titled.length === 0 ? [] : chatsOfMessages(db, newest.keys))
    return { hits: titled.filter(({ num }) => !known.has(num)), isWhole: titled.length < TITLES_MAX }
  }
  const titled = titlesNear(db, plan.titles, wanted)
  const matched = matchedChats(db, plan.messages, newest, titled)
  return { hits: titled.filter(({ num }) => !matched.has(num)), isWhole: true }
}

function titlesNear(db: Mirror, target: Target, wanted: WantedTitles | null): readonly Title[] {
  if (wanted === null) return findTitles(db, target, BESIDE_MANY_MAX)
  if (wanted.by !== 'score') return findTitles(db, target, TITLES_MAX, wanted)
  return findTitles(db, target, SCORED_MAX)
    .map((title) => ({ title, score: wanted.scoreOf(title) }))
    .toSorted((a, b) => b.score - a.score || b.title.num - a.title.num)
    .slice(0, LOOKED_UP_MAX)
    .map(({ title }) => title)
}

const OLDER_IN = `
  select distinct m.chat from json_each(?) n cross join messages m indexed by messages_by_chat on m.chat = n.value
  where m.key < ?
`

/** Which of the chats have a matching message. */
function matchedChats(db: Mirror, target: Target, newest: Newest, titles: readonly Title[]): ReadonlySet<number> {
  const nums = titles.map(({ num }) => num)
  if (!target.isCostly || nums.length === 0) return chatsWithMatch(db, target, nums)
  // The lists of a frequent prefix would be merged again, and such a prefix says little about a title.
  const older = statementOf<number>(db, OLDER_IN, 'values').all(JSON.stringify(nums), newest.keys.at(-1) ?? 0)
  return new Set([...chatsOfMessages(db, newest.keys), ...older])
}

/**
 * The latest chats whose titles match and that have a message which passes the filters.
 * @param rows how many at most; a negative number is no limit
 * @param among only these chats, by their numbers; or only those whose message comes before the edge
 */
export function findTitles(
  db: Mirror,
  { match, rest, low, high, isPossible }: Target,
  rows: number,
  among: readonly number[] | { readonly by: 'newest' | 'oldest'; readonly edge: number } | null = null,
): readonly Title[] {
  if (!isPossible || match === null) return []
  const values: (string | number | bigint)[] = [low, high]
  const tests: (string | bigint)[] = []
  const passes = ['m.chat = c.num', 'm.is_orphan = 0', 'm.key between ? and ?']
  passes.push(...rest.map((part) => testOf(part, tests, 'title')))
  values.push(...tests, match)
  const wanted = ['chat_terms match ?']
  if (among !== null && 'by' in among) {
    // First the chats with such a message, which are few: the first message of each title takes longer.
    const isBefore = among.by === 'newest' ? '>=' : '<='
    const near = `select chat from messages indexed by message_facts where key ${isBefore} ?`
    wanted.push(`+chat_terms.rowid in (${near})`, `m.key ${isBefore} ?`)
    values.push(among.edge, among.edge)
  } else if (among !== null) {
    wanted.push('+chat_terms.rowid in (select value from json_each(?))')
    values.push(JSON.stringify(among))
  }
  const sql = `
    select c.num, m.key, c.title, c.summary
    from chat_terms cross join chats c on c.num = chat_terms.rowid
    cross join messages m on m.key = (
      select m.key from messages m indexed by messages_by_chat where ${passes.join(' and ')} order by m.position, m.key limit 1
    )
    where ${wanted.join(' and ')} order by chat_terms.rowid desc limit ? + 0
  `
  return statementOf<Title>(db, sql).all(...values, rows)
}

/**
 * How many hits a plan has, including titles.
 * @param most the count stops at this number
 */
export function countHits(db: Mirror, plan: Plan, most = COUNTED_MAX): { count: number; isExact: boolean } {
  const newest = newestMessages(db, plan.messages, most)
  if (!newest.isWhole) return { count: most, isExact: false }
  const titles = titlesBeside(db, plan, newest, null)
  const count = newest.keys.length + titles.hits.length
  return { count: Math.min(most, count), isExact: titles.isWhole && count <= most }
}

/** The same for another query with the filters of a request; 0 if it is empty. */
export function countFound(
  db: Mirror,
  tree: QueryNode | null,
  { filters, clock }: Pick<SearchRequest, 'filters' | 'clock'>,
  most = COUNTED_MAX,
): number {
  const trees = [...filterNodes(filters), ...(tree === null ? [] : [tree])]
  return trees.length === 0 ? 0 : countHits(db, planQuery(db, trees, clock), most).count
}
