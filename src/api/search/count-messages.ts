import type { Mirror } from '../../mirror/open.ts'
import type { Deadline } from './deadline.ts'
import type { Branch } from './plan/branch.ts'
import { compileTests } from './plan/test-sql.ts'
import { walkMessages } from './walk.ts'

export interface Count {
  readonly count: number
  readonly isExact: boolean
}

/** Counting stops behind this many. */
export const COUNTED_MAX = 100_000
const FIRST_STEP_ROWS = 4096

/** How many messages pass any of the branches, titles aside. */
export function countMessages(db: Mirror, branches: readonly Branch[], deadline: Deadline): Count {
  const [only] = branches
  const found =
    branches.length !== 1 || only === undefined ? countUnion(db, branches, deadline) : countBranch(db, only, deadline)
  return found.count > COUNTED_MAX ? { count: COUNTED_MAX, isExact: false } : found
}

/** A message that passes twice counts once: that is seen only side by side. */
function countUnion(db: Mirror, branches: readonly Branch[], deadline: Deadline): Count {
  const keys = walkMessages(db, branches, 'newest', deadline)
  let count = 0
  while (count <= COUNTED_MAX && keys.next().done !== true) count += 1
  keys.return()
  return { count, isExact: !deadline.hasPassed() && count <= COUNTED_MAX }
}

function countBranch(db: Mirror, branch: Branch, deadline: Deadline): Count {
  if (branch.match !== null) return countMatches(db, branch, branch.match, deadline)
  const all = countUnmatched(db, branch)
  if (branch.exclude === null) return { count: all, isExact: true }
  const excluded = countMatches(db, branch, branch.exclude, deadline)
  return { count: Math.max(0, all - excluded.count), isExact: excluded.isExact }
}

/** In steps that grow, as SQLite cannot be interrupted, and each step of a prefix query starts anew. */
function countMatches(db: Mirror, branch: Branch, match: string, deadline: Deadline): Count {
  const tests = compileTests(branch)
  const step = `
    select rowid as key from message_terms
    where message_terms match @match and rowid between @low and @high order by rowid desc limit @rows
  `
  const sql =
    tests.sql === null
      ? `select count(*) as scanned, min(key) as lowest, count(*) as passing from (${step})`
      : `select count(*) as scanned, min(f.key) as lowest, total(${tests.sql}) as passing
         from (${step}) f cross join messages m on m.key = f.key`
  const statement = db.prepare<[object], { scanned: number; lowest: number | null; passing: number }>(sql)
  let count = 0
  let { high } = branch
  for (let rows = FIRST_STEP_ROWS; ; rows *= 4) {
    const taken = statement.get({ match, low: branch.low, high, rows, ...tests.params })
    count += taken?.passing ?? 0
    if (taken === undefined || taken.lowest === null || taken.scanned < rows) return { count, isExact: true }
    if (count > COUNTED_MAX || deadline.isPassed()) return { count, isExact: false }
    high = BigInt(taken.lowest) - 1n
  }
}

function countUnmatched(db: Mirror, branch: Branch): number {
  const { low, high, chats } = branch
  const tests = compileTests(branch, true)
  const from = chats === null ? 'messages m' : 'json_each(@chats) c cross join messages m on m.chat = c.value'
  const sql = `
    select count(*) from ${from}
    where m.key between @low and @high and m.is_shadowed = 0 and ${tests.sql ?? '1'}
  `
  const params = { low, high, ...tests.params, ...(chats === null ? {} : { chats: JSON.stringify(chats) }) }
  return db.prepare<[object], number>(sql).pluck().get(params) ?? 0
}
