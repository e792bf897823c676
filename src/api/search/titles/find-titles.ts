import type { Mirror } from '../../../mirror/open.ts'
import { COUNTED_MAX, newestMessages, type Newest } from '../match/count-messages.ts'
import type { Deadline } from '../deadline.ts'
import { CANDIDATES_MAX, findCandidates, NO_LIMIT, type TitleCandidate } from './title-candidates.ts'
import { chatsOfMessages, chatsWithMatch, hasMatch, type ChatKeys } from '../match/matching-chats.ts'
import type { QueryPlan } from '../plan/plan.ts'
import { findCarriers } from './title-carrier.ts'
import { listsOf, valuesOf } from '../match/statement.ts'

/** A chat found by its title or summary, none of whose messages matches. */
export interface TitleHit {
  /** Key of the message that carries the hit: the first of the thread that passes the filters. */
  readonly key: number
  readonly title: string
  readonly summary: string | null
}

export interface TitleHits {
  readonly hits: readonly TitleHit[]
  /** Where the messages are known to be all, whether these are, too: else more titles match than were looked at. */
  readonly isWhole: boolean
}

/** Which title hits are wanted, where there are too many messages to tell them all. */
export type WantedTitles =
  /** Those that score as the last message of a page does, or better. */
  | { readonly by: 'score'; readonly edge: number; readonly scoreOf: (title: TitleCandidate) => number }
  /** Those that stand before the last message of a page. */
  | { readonly by: 'newest' | 'oldest'; readonly edge: number }

/** So many of the last are scored, and so many of the best looked at. */
const SCORED_MAX = 100
const LOOKED_AT_MAX = 5
/** So many chats are looked at one by one; where more titles match, only chats near the page are. */
const CHATS_MAX = 200
/** So many messages around a page are asked for their chats. */
const NEAR_MAX = 2000

/**
 * All title hits, of the last 1,000 chats that match by their title or summary; beside more than 1,000 messages of the
 * last 200. Who knows more of the messages asks `titlesBeside`.
 */
export function findTitles(db: Mirror, plan: QueryPlan, deadline: Deadline): TitleHits {
  return titlesBeside(db, plan, newestMessages(db, plan.branches, COUNTED_MAX, deadline), null, deadline)
}

/** The chats, by number, that match by their title or summary and hold a message that passes: all there are. */
export function chatsByTitle(db: Mirror, { titleBranches }: QueryPlan): Iterable<number> {
  return findCarriers(db, findCandidates(db, titleBranches, null, NO_LIMIT)).keys()
}

/**
 * The title hits beside messages that were found.
 * @param wanted null: all of them, as wherever the messages are known to be all; of more than 1,000 messages the last 200
 */
export function titlesBeside(
  db: Mirror,
  plan: QueryPlan,
  newest: Newest,
  wanted: WantedTitles | null,
  deadline: Deadline,
): TitleHits {
  const limited = newest.isWhole ? null : wanted
  const titled = plan.titleBranches.length === 0 ? [] : chooseCandidates(db, plan, newest.isWhole, limited)
  const hits = titled.length === 0 ? [] : hitsAmong(db, plan, newest, titled, limited, deadline)
  return { hits, isWhole: titled.length < CANDIDATES_MAX }
}

function hitsAmong(
  db: Mirror,
  plan: QueryPlan,
  newest: Newest,
  titled: readonly TitleCandidate[],
  limited: WantedTitles | null,
  deadline: Deadline,
): readonly TitleHit[] {
  const known = newest.isWhole ? new Set(chatsOfMessages(db, newest.keys)) : null
  const candidates = titled.filter(({ num }) => known?.has(num) !== true)
  const carriers = candidates.length === 0 ? null : findCarriers(db, candidates)
  const hits = candidates.flatMap(({ num, title, summary }) => {
    const key = carriers?.get(num)
    return key === undefined || !isBefore(key, limited) ? [] : [{ num, key, title, summary }]
  })
  if (known !== null || hits.length === 0) return hits
  const nums = hits.map(({ num }) => num)
  const matched = matchedChats(db, plan, newest, nums, deadline)
  return hits.filter(({ num }) => !matched.has(num))
}

function isBefore(key: number, wanted: WantedTitles | null): boolean {
  if (wanted === null || wanted.by === 'score') return true
  return wanted.by === 'newest' ? key >= wanted.edge : key <= wanted.edge
}

function chooseCandidates(
  db: Mirror,
  plan: QueryPlan,
  isAll: boolean,
  wanted: WantedTitles | null,
): readonly TitleCandidate[] {
  if (isAll) return findCandidates(db, plan.titleBranches)
  if (wanted?.by === 'score') {
    const scored = findCandidates(db, plan.titleBranches, null, SCORED_MAX)
      .map((title) => ({ title, score: wanted.scoreOf(title) }))
      .filter(({ score }) => score >= wanted.edge)
    const sorted = scored.sort((a, b) => b.score - a.score || b.title.num - a.title.num)
    return sorted.slice(0, LOOKED_AT_MAX).map(({ title }) => title)
  }
  const few = findCandidates(db, plan.titleBranches, null, CHATS_MAX + 1)
  if (few.length <= CHATS_MAX || wanted === null) return few.slice(0, CHATS_MAX)
  return findCandidates(db, plan.titleBranches, chatsNear(db, wanted.edge, wanted.by))
}

const CHATS_DOWN_TO = `
  select distinct chat from (select chat from messages where key >= @edge order by key desc limit ${NEAR_MAX})
`
const CHATS_UP_TO = `
  select distinct chat from (select chat from messages where key <= @edge order by key limit ${NEAR_MAX})
`

function chatsNear(db: Mirror, edge: number, order: 'newest' | 'oldest'): readonly number[] {
  const sql = order === 'newest' ? CHATS_DOWN_TO : CHATS_UP_TO
  return valuesOf<number>(db, sql).all({ edge })
}

const KEYS_OF_CHATS = `
  select m.chat, m.key from json_each(@chats) c cross join messages m on m.chat = c.value
`

/** More chats are asked for together: the index is walked wherever they lie. */
const ASKED_SINGLY_MAX = 20

/** A chat of the last days is known by the newest messages; only of an older one the index is asked. */
function matchedChats(
  db: Mirror,
  plan: QueryPlan,
  newest: Newest,
  nums: readonly number[],
  deadline: Deadline,
): ReadonlySet<number> {
  const known = new Set(newest.keys)
  const lowest = newest.keys.at(-1) ?? Infinity
  const matched = new Set<number>()
  const undecided: ChatKeys[] = []
  for (const chat of keysByChat(db, nums)) {
    if (chat.keys.some((key) => known.has(key))) matched.add(chat.num)
    else if (chat.keys.some((key) => key < lowest)) undecided.push(chat)
  }
  for (const num of matchedOf(db, plan, undecided, deadline)) matched.add(num)
  return matched
}

function keysByChat(db: Mirror, nums: readonly number[]): readonly ChatKeys[] {
  const rows = listsOf<[number, number]>(db, KEYS_OF_CHATS).all({ chats: JSON.stringify(nums) })
  const keys = new Map(nums.map((num) => [num, new Array<number>()]))
  for (const [num, key] of rows) keys.get(num)?.push(key)
  return [...keys].map(([num, own]) => ({ num, keys: own }))
}

function matchedOf(db: Mirror, plan: QueryPlan, chats: readonly ChatKeys[], deadline: Deadline): Iterable<number> {
  const nums = chats.map(({ num }) => num)
  // A prefix that so many messages hold is merged anew by each walk, and says little of a title.
  if (plan.branches.some((branch) => branch.isCostly)) return nums
  if (chats.length > ASKED_SINGLY_MAX) return chatsWithMatch(db, plan.branches, nums, deadline)
  return chats.filter((chat) => hasMatch(db, plan.branches, chat, deadline)).map(({ num }) => num)
}
