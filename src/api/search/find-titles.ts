import type { Mirror } from '../../mirror/open.ts'
import { COUNTED_MAX, newestMessages, type Newest } from './count-messages.ts'
import type { Deadline } from './deadline.ts'
import { findCandidates, type TitleCandidate } from './title-candidates.ts'
import { chatsOfMessages, chatsWithMatch } from './matching-chats.ts'
import type { QueryPlan } from './plan/plan.ts'
import { carrierFinder } from './title-carrier.ts'

/** A chat found by its title or summary, none of whose messages matches. */
export interface TitleHit {
  /** Key of the message that carries the hit: the first of the thread that passes the filters. */
  readonly key: number
  readonly title: string
  readonly summary: string | null
}

/** Which title hits are wanted, where there are too many messages to tell them all. */
export type WantedTitles =
  | { readonly by: 'score'; readonly scoreOf: (title: TitleCandidate) => number }
  /** Those that stand before the last message of a page. */
  | { readonly by: 'newest' | 'oldest'; readonly edge: number }

/** So many of the last are scored, and so many of the best looked at. */
const SCORED_MAX = 500
const LOOKED_AT_MAX = 10
/** So many chats are looked at one by one; where more titles match, only chats near the page are. */
const CHATS_MAX = 200
/** So many messages around a page are asked for their chats. */
const NEAR_MAX = 2000

/** All title hits, of the last 1,000 chats that match by their title or summary. */
export function findTitles(db: Mirror, plan: QueryPlan, deadline: Deadline): readonly TitleHit[] {
  return titlesBeside(db, plan, newestMessages(db, plan.branches, COUNTED_MAX, deadline), null, deadline)
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
): readonly TitleHit[] {
  if (plan.titleBranches.length === 0) return []
  const limited = newest.isWhole ? null : wanted
  const candidates = chooseCandidates(db, plan, newest.isWhole, limited)
  if (candidates.length === 0) return []
  const carrierOf = carrierFinder(db)
  const hits = candidates.flatMap(({ num, title, summary, branches }) => {
    const carrier = carrierOf(num, branches)
    return carrier === null || !isBefore(carrier.key, limited) ? [] : [{ num, key: carrier.key, title, summary }]
  })
  if (hits.length === 0) return []
  const nums = hits.map(({ num }) => num)
  const matched = newest.isWhole
    ? new Set(chatsOfMessages(db, newest.keys))
    : matchedChats(db, plan, newest, nums, deadline)
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
    const scored = findCandidates(db, plan.titleBranches, null, SCORED_MAX).map((title) => ({
      title,
      score: wanted.scoreOf(title),
    }))
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
  return db.prepare<[object], number>(sql).pluck().all({ edge })
}

const KEYS_OF_CHAT = `select key from messages where chat = ?`

/** A chat of the last days is known by the newest messages; only of an older one the index is asked. */
function matchedChats(
  db: Mirror,
  plan: QueryPlan,
  newest: Newest,
  nums: readonly number[],
  deadline: Deadline,
): ReadonlySet<number> {
  const statement = db.prepare<[number], number>(KEYS_OF_CHAT).pluck()
  const known = new Set(newest.keys)
  const lowest = newest.keys.at(-1) ?? Infinity
  const matched = new Set<number>()
  const undecided: number[] = []
  for (const num of nums) {
    const keys = statement.all(num)
    if (keys.some((key) => known.has(key))) matched.add(num)
    else if (keys.some((key) => key < lowest)) undecided.push(num)
  }
  // A prefix that so many messages hold is merged anew by each walk, and says little of a title.
  const isCostly = plan.branches.some((branch) => branch.isCostly)
  for (const num of isCostly ? undecided : chatsWithMatch(db, plan.branches, undecided, deadline)) matched.add(num)
  return matched
}
