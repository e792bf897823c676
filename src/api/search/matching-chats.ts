import type { Mirror } from '../../mirror/open.ts'
import type { Deadline } from './deadline.ts'
import type { Branch } from './plan/branch.ts'
import { tightenBounds } from './plan/tighten-bounds.ts'
import { walkMessages } from './walk.ts'

/**
 * Which of some chats hold a message that passes. Out of time, a chat that was not looked at counts as one that does.
 * @param nums a few hundred at most: the index is walked only where their messages lie
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
    const keys = [...walkMessages(db, [tightenBounds(db, { ...branch, chats: left })], 'newest', deadline)]
    for (const num of chatsOfMessages(db, keys)) found.add(num)
    if (deadline.hasPassed()) return new Set(nums)
  }
  return found
}

const CHATS_OF_KEYS = `
  select distinct m.chat from json_each(@keys) k cross join messages m on m.key = k.value
`

/** The chats of some messages, each once. */
export function chatsOfMessages(db: Mirror, keys: readonly number[]): readonly number[] {
  return db
    .prepare<[object], number>(CHATS_OF_KEYS)
    .pluck()
    .all({ keys: JSON.stringify(keys) })
}
