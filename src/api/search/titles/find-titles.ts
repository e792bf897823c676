import type { Mirror } from '../../../mirror/open.ts'
import { COUNTED_MAX, newestMessages, type Newest } from '../match/count-messages.ts'
import type { Deadline } from '../deadline.ts'
import { CANDIDATES_MAX, findCandidates, NO_LIMIT, type TitleCandidate } from './title-candidates.ts'
import { chatsOfMessages, chatsWithMatch, hasMatch, type ChatKeys } from '../match/matching-chats.ts'
import type { QueryPlan } from '../plan/plan.ts'
import { findCarriers } from './title-carrier.ts'
import { listsOf, valuesOf } from '../match/statement.ts'

/** A chat whose title or summary matches and none of whose messages does. */
export interface TitleHit {
  /** Key of the message that represents the chat: the first of the thread that passes the filters. */
  readonly key: number
  readonly title: string
  readonly summary: string | null
}

export interface TitleHits {
  readonly hits: readonly TitleHit[]
  /** False if more titles match than were checked. Only meaningful if all matching messages are known. */
  readonly isWhole: boolean
}

/** Which title hits are wanted if there are too many messages to return all. */
export type WantedTitles =
  /** Hits that score at least like the last message of the page. */
  | { readonly by: 'score'; readonly edge: number; readonly scoreOf: (title: TitleCandidate) => number }
  /** Hits that come before the last message of the page. */
  | { readonly by: 'newest' | 'oldest'; readonly edge: number }

/** How many of the latest titles are scored, and how many of the best are checked. */
const SCORED_MAX = 100
const LOOKED_AT_MAX = 5
/** How many chats are checked. If more titles match, only chats near the page are. */
const CHATS_MAX = 200
/** How many messages near the page give the chats near it. */
const NEAR_MAX = 2000

/**
 * All title hits of the latest 1,000 chats whose title or summary matches; of the latest 200 if more than 1,000 messages
 * match. Callers that already know the matching messages use `titlesBeside`.
 */
export function findTitles(db: Mirror, plan: QueryPlan, deadline: Deadline): TitleHits {
  return titlesBeside(db, plan, newestMessages(db, plan.branches, COUNTED_MAX, deadline), null, deadline)
}

/** The numbers of all chats whose title or summary matches and that have a message that passes the filters. */
export function chatsByTitle(db: Mirror, { titleBranches }: QueryPlan): Iterable<number> {
  return findCarriers(db, findCandidates(db, titleBranches, null, NO_LIMIT)).keys()
}

/**
 * The title hits in addition to messages that were found.
 * @param wanted null: all; of the latest 200 chats if more than 1,000 messages match. Ignored if all messages are known
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
  const near = wanted === null ? null : chatsNear(db, wanted.edge, wanted.by)
  if (near?.areAll === true) return findCandidates(db, plan.titleBranches, near.nums)
  const few = findCandidates(db, plan.titleBranches, null, CHATS_MAX + 1)
  if (few.length <= CHATS_MAX || near === null) return few.slice(0, CHATS_MAX)
  return findCandidates(db, plan.titleBranches, near.nums)
}

const CHATS_DOWN_TO = `
  select chat from messages indexed by message_facts where key >= @edge order by key desc limit ${NEAR_MAX}
`
const CHATS_UP_TO = `
  select chat from messages indexed by message_facts where key <= @edge order by key limit ${NEAR_MAX}
`

interface NearChats {
  readonly nums: readonly number[]
  /** Whether no other chat has a message before the edge. */
  readonly areAll: boolean
}

function chatsNear(db: Mirror, edge: number, order: 'newest' | 'oldest'): NearChats {
  const sql = order === 'newest' ? CHATS_DOWN_TO : CHATS_UP_TO
  const nums = valuesOf<number>(db, sql).all({ edge })
  return { nums: [...new Set(nums)], areAll: nums.length < NEAR_MAX }
}

const KEYS_OF_CHATS = `
  select m.chat, m.key from json_each(@chats) c cross join messages m on m.chat = c.value
`

/** More chats than this are checked with one walk over the index. */
const ASKED_SINGLY_MAX = 20

/** A recent chat is known from the newest messages. Only for an older one the index is asked. */
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
  // Each walk would merge the lists of a frequent prefix again, and such a prefix says little about a title.
  if (plan.branches.some((branch) => branch.isCostly)) return nums
  if (chats.length > ASKED_SINGLY_MAX) return chatsWithMatch(db, plan.branches, nums, deadline)
  return chats.filter((chat) => hasMatch(db, plan.branches, chat, deadline)).map(({ num }) => num)
}
