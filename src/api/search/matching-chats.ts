import type { Mirror } from '../../mirror/open.ts'
import type { Deadline } from './deadline.ts'
import type { Branch } from './plan/branch.ts'
import { compileTests } from './plan/test-sql.ts'

const LOOKS_MAX = 8

/**
 * Which of some chats hold a message that passes. Out of time, a chat that was not looked at counts as one that does.
 */
export function chatsWithMatch(
  db: Mirror,
  branches: readonly Branch[],
  nums: readonly number[],
  deadline: Deadline,
): ReadonlySet<number> {
  const found = new Set<number>()
  for (const branch of branches) {
    const left = nums.filter((num) => !found.has(num))
    for (const num of chatsOfBranch(db, branch, left, deadline)) found.add(num)
  }
  return found
}

function chatsOfBranch(db: Mirror, branch: Branch, nums: readonly number[], deadline: Deadline): Iterable<number> {
  if (nums.length === 0) return []
  // A look is short where a chat's messages lie close in time, and as long as the walk where they do not; and a
  // prefix is merged anew by each statement.
  if (branch.match !== null && (branch.isCostly || nums.length > LOOKS_MAX)) {
    return walkMatches(db, branch, branch.match, nums, deadline)
  }
  const hasMatch = branch.match === null ? prepareBareLook(db, branch) : prepareLook(db, branch, branch.match)
  return nums.filter((num) => deadline.isPassed() || hasMatch(num))
}

function walkMatches(
  db: Mirror,
  branch: Branch,
  match: string,
  nums: readonly number[],
  deadline: Deadline,
): Iterable<number> {
  const tests = compileTests(branch)
  const { low, high } = branch
  const unseen = new Set(nums)
  const statement = db.prepare<[object], { chat: number; passes: number }>(`
    select m.chat, ${tests.sql ?? 1} as passes
    from message_terms cross join messages m on m.key = message_terms.rowid
    where message_terms match @match and message_terms.rowid between @low and @high
    order by message_terms.rowid desc
  `)
  for (const { chat, passes } of statement.iterate({ match, low, high, ...tests.params })) {
    if (passes !== 0) unseen.delete(chat)
    if (unseen.size === 0) break
    if (deadline.isPassedAtRow()) return nums
  }
  return nums.filter((num) => !unseen.has(num))
}

const SELECT_KEY_RANGE = `
  select min(key) as low, max(key) as high from messages where chat = @chat and key between @low and @high
`

/** A chat's messages lie close in time, and so in the full-text index: each look is a short walk. */
function prepareLook(db: Mirror, branch: Branch, match: string): (chat: number) => boolean {
  const tests = compileTests(branch)
  const selectRange = db.prepare<[object], { low: number | null; high: number | null }>(SELECT_KEY_RANGE)
  const selectMatch = db.prepare<[object]>(`
    select 1
    from message_terms cross join messages m on m.key = message_terms.rowid
    where message_terms match @match and message_terms.rowid between @low and @high
      and m.chat = @chat and ${tests.sql ?? '1'}
    limit 1
  `)
  return (chat) => {
    const range = selectRange.get({ chat, low: branch.low, high: branch.high })
    if (range === undefined || range.low === null || range.high === null) return false
    const bounds = { low: BigInt(range.low), high: BigInt(range.high) }
    return selectMatch.get({ match, chat, ...tests.params, ...bounds }) !== undefined
  }
}

/** Where nothing, or only what must not stand there, is asked of the index. */
function prepareBareLook(db: Mirror, branch: Branch): (chat: number) => boolean {
  const { low, high, exclude } = branch
  const tests = compileTests(branch)
  const isExcluded = `m.key in (
    select rowid from message_terms where message_terms match @exclude and rowid between @low and @high
  )`
  const statement = db.prepare<[object]>(`
    select 1 from messages m
    where m.chat = @chat and m.key between @low and @high and m.is_shadowed = 0 and ${tests.sql ?? '1'}
      ${exclude === null ? '' : `and not ${isExcluded}`}
    limit 1
  `)
  const excluded = exclude === null ? {} : { exclude }
  return (chat) => statement.get({ chat, low, high, ...excluded, ...tests.params }) !== undefined
}
