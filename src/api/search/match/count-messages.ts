import type { Mirror } from '../../../mirror/open.ts'
import type { Deadline } from '../deadline.ts'
import { matchSource, compileTests } from '../plan/branch-sql.ts'
import type { Branch } from '../plan/branch.ts'
import { valuesOf } from './statement.ts'
import { walkMessages } from './walk.ts'

export interface Count {
  readonly count: number
  readonly isExact: boolean
}

/** Counting stops at this number. Nobody reads so many pages, and counting a common word costs more than finding it. */
export const COUNTED_MAX = 1000

/** The newest matching messages, as far as they are counted. */
export interface Newest {
  /** Newest first. */
  readonly keys: readonly number[]
  /** Whether these are all. */
  readonly isWhole: boolean
}

/** @param rows the maximum number */
export function newestMessages(db: Mirror, branches: readonly Branch[], rows: number, deadline: Deadline): Newest {
  const walk = walkMessages(db, branches, 'newest', deadline, rows + 1)
  const keys: number[] = []
  for (const key of walk) {
    if (keys.length >= rows) return { keys, isWhole: false }
    keys.push(key)
  }
  return { keys, isWhole: !deadline.hasPassed() }
}

/** How many messages match any of the branches, without titles. */
export function countMessages(db: Mirror, branches: readonly Branch[], deadline: Deadline): Count {
  const [only] = branches
  if (branches.length === 1 && only !== undefined && only.exclude !== null) return countOthers(db, only, only.exclude)
  const { keys, isWhole } = newestMessages(db, branches, COUNTED_MAX, deadline)
  return { count: keys.length, isExact: isWhole }
}

/** Whether the query only excludes. Then subtracting the excluded messages is cheaper than walking the others. */
export const isExclusion = (branches: readonly Branch[]): boolean =>
  branches.length === 1 && branches[0]?.exclude !== null

function countOthers(db: Mirror, branch: Branch, exclude: string): Count {
  const { low, high, chats } = branch
  const tests = compileTests(branch, true)
  const from = chats === null ? 'messages m' : 'json_each(@chats) c cross join messages m on m.chat = c.value'
  const all = valuesOf<number>(
    db,
    `
    select count(*) from ${from}
    where m.key between @low and @high and m.is_shadowed = 0 and ${tests.sql ?? '1'}
  `,
  )
  const source = matchSource(branch)
  const excluded = valuesOf<number>(db, `select total(${source.passes}) ${source.from}`)
  const chatsJson = chats === null ? {} : { chats: JSON.stringify(chats) }
  const total = all.get({ low, high, ...tests.params, ...chatsJson }) ?? 0
  const left = branch.ranges.reduce(
    (sum, range) => sum - (excluded.get({ match: exclude, ...range, ...source.params }) ?? 0),
    total,
  )
  return { count: Math.min(COUNTED_MAX, Math.max(0, left)), isExact: left <= COUNTED_MAX }
}
