import type { Mirror } from '../../../mirror/open.ts'
import type { Deadline } from '../deadline.ts'
import { type Branch, tightenBounds } from '../plan/branch.ts'
import { walkMessages } from './walk.ts'
import { valuesOf } from './statement.ts'

/** Where the order does not matter. FTS5 begins in the middle of a list several times faster in this direction. */
const ANY_ORDER = 'oldest'

/**
 * Which of some chats have a matching message. If time runs out, all of them count as matching.
 * @param nums a few hundred at most, because the index is walked only in the ranges of their messages
 */
export function chatsWithMatch(
  db: Mirror,
  branches: readonly Branch[],
  nums: readonly number[],
  deadline: Deadline,
): ReadonlySet<number> {
  const found = new Set<number>()
  for (const branch of branches) {
    const left = nums.filter((num) => !found.has(num) && branch.chats?.includes(num) !== false)
    if (left.length === 0) continue
    const keys = [...walkMessages(db, [tightenBounds(db, { ...branch, chats: left })], ANY_ORDER, deadline)]
    for (const num of chatsOfMessages(db, keys)) found.add(num)
    if (deadline.hasPassed()) return new Set(nums)
  }
  return found
}

export interface ChatKeys {
  readonly num: number
  /** Keys of all its messages. */
  readonly keys: readonly number[]
}

/** How many messages in the period of a chat are probably read. */
const LIKELY_ROWS = 64

/** Whether a chat has a matching message. Stops at the first. True if time runs out. */
export function hasMatch(
  db: Mirror,
  branches: readonly Branch[],
  { num, keys }: ChatKeys,
  deadline: Deadline,
): boolean {
  const own = new Set(keys)
  const low = BigInt(Math.min(...keys))
  const high = BigInt(Math.max(...keys))
  for (const branch of branches.filter(({ chats }) => chats?.includes(num) !== false)) {
    const bounds = { low: low > branch.low ? low : branch.low, high: high < branch.high ? high : branch.high }
    const near: Branch = { ...branch, ...bounds, ranges: [bounds], chats: null, keys: null }
    for (const key of walkMessages(db, [near], ANY_ORDER, deadline, LIKELY_ROWS)) if (own.has(key)) return true
    if (deadline.hasPassed()) return true
  }
  return false
}

const CHATS_OF_KEYS = `
  select distinct m.chat from json_each(@keys) k cross join messages m indexed by message_facts on m.key = k.value
`

/** The chats of some messages, without duplicates. */
export function chatsOfMessages(db: Mirror, keys: readonly number[]): readonly number[] {
  return valuesOf<number>(db, CHATS_OF_KEYS).all({ keys: JSON.stringify(keys) })
}
