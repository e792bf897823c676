import type { Mirror } from '../../mirror/open.ts'
import type { Deadline } from './deadline.ts'
import type { Branch } from './plan/branch.ts'
import { compileTests } from './plan/test-sql.ts'
import { matchSource } from './match-source.ts'

export type TimeOrder = 'newest' | 'oldest'

/** The keys of all messages that pass any of the branches, each once, in order of time, until the deadline. */
export function* walkMessages(
  db: Mirror,
  branches: readonly Branch[],
  order: TimeOrder,
  deadline: Deadline,
): Generator<number, void> {
  const [only] = branches
  if (branches.length === 1 && only !== undefined) {
    yield* walkBranch(db, only, order, deadline)
    return
  }
  const walks = branches.map((branch) => walkBranch(db, branch, order, deadline))
  try {
    // A walk that has ended stands behind every key.
    const end = order === 'newest' ? -Infinity : Infinity
    const pick = order === 'newest' ? Math.max : Math.min
    const step = (walk: Generator<number, void>): number => walk.next().value ?? end
    const heads = walks.map(step)
    for (;;) {
      let next = end
      for (const head of heads) next = pick(next, head)
      if (next === end) return
      yield next
      walks.forEach((walk, index) => {
        if (heads[index] === next) heads[index] = step(walk)
      })
    }
  } finally {
    for (const walk of walks) walk.return()
  }
}

/** The messages that pass one branch. */
function walkBranch(db: Mirror, branch: Branch, order: TimeOrder, deadline: Deadline): Generator<number, void> {
  return branch.match === null
    ? walkUnmatched(db, branch, order, deadline)
    : walkMatches(db, branch, branch.match, order, deadline)
}

const bySort = (order: TimeOrder): string => (order === 'newest' ? 'desc' : 'asc')

function* walkMatches(
  db: Mirror,
  branch: Branch,
  match: string,
  order: TimeOrder,
  deadline: Deadline,
): Generator<number, void> {
  const { passes, from, params } = matchSource(branch)
  const statement = db.prepare<[object], { key: number; passes: number }>(`
    select message_terms.rowid as key, ${passes} as passes
    ${from}
    order by message_terms.rowid ${bySort(order)}
  `)
  const ranges = order === 'newest' ? branch.ranges : branch.ranges.toReversed()
  for (const { low, high } of ranges) {
    // Rows that do not pass flow too, so that the clock is looked at however rare those are that do.
    for (const row of statement.iterate({ match, low, high, ...params })) {
      if (row.passes !== 0) yield row.key
      if (deadline.isPassedAtRow()) return
    }
  }
}

function* walkUnmatched(db: Mirror, branch: Branch, order: TimeOrder, deadline: Deadline): Generator<number, void> {
  const { low, high, chats, exclude } = branch
  const tests = compileTests(branch, true)
  const from = chats === null ? 'messages m' : 'json_each(@chats) c cross join messages m on m.chat = c.value'
  const statement = db.prepare<[object], { key: number; passes: number }>(`
    select m.key, ${tests.sql ?? 1} as passes
    from ${from}
    where m.key between @low and @high and m.is_shadowed = 0
    order by m.key ${bySort(order)}
  `)
  const params = { low, high, ...tests.params, ...(chats === null ? {} : { chats: JSON.stringify(chats) }) }
  const excluded = walkExcluded(db, exclude, branch, order)
  try {
    for (const row of statement.iterate(params)) {
      if (row.passes !== 0 && !excluded.has(row.key)) yield row.key
      if (deadline.isPassedAtRow()) return
    }
  } finally {
    excluded.close()
  }
}

interface ExcludedWalk {
  /** To be asked in the order of the walk. */
  readonly has: (key: number) => boolean
  readonly close: () => void
}

/** Both lists are in the order of keys: walking them side by side asks the index once, not once per message. */
function walkExcluded(db: Mirror, exclude: string | null, { low, high }: Branch, order: TimeOrder): ExcludedWalk {
  if (exclude === null) return { has: () => false, close: () => {} }
  const statement = db
    .prepare<[object], number>(`
      select rowid from message_terms
      where message_terms match @exclude and rowid between @low and @high order by rowid ${bySort(order)}
    `)
    .pluck()
  const rows = statement.iterate({ exclude, low, high })
  const isAhead = (row: number, key: number): boolean => (order === 'newest' ? row > key : row < key)
  let next = rows.next()
  const has = (key: number): boolean => {
    while (next.done !== true && isAhead(next.value, key)) next = rows.next()
    return next.done !== true && next.value === key
  }
  return { has, close: () => void rows.return?.() }
}
