import type { Mirror } from '../../../mirror/open.ts'
import type { Deadline } from '../deadline.ts'
import type { Branch, KeyRange } from '../plan/branch.ts'
import { matchSource, compileTests } from '../plan/branch-sql.ts'
import { LIMIT_ROWS, rowsOf, valuesOf } from './statement.ts'
import { bySort, restOf, stepKeys, type TimeOrder } from './steps.ts'

const WANTED = 1000

/**
 * The keys of all messages that match any of the branches, without duplicates, in order of time, until the deadline.
 * @param wanted how many keys are probably needed
 */
export function* walkMessages(
  db: Mirror,
  branches: readonly Branch[],
  order: TimeOrder,
  deadline: Deadline,
  wanted = WANTED,
): Generator<number, void> {
  const [only] = branches
  if (branches.length === 1 && only !== undefined) {
    yield* walkBranch(db, only, order, deadline, wanted)
    return
  }
  const walks = branches.map((branch) => walkBranch(db, branch, order, deadline, wanted))
  try {
    // A walk that has ended sorts after every key.
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

/** The messages that match one branch. */
function walkBranch(
  db: Mirror,
  branch: Branch,
  order: TimeOrder,
  deadline: Deadline,
  wanted: number,
): Generator<number, void> {
  if (branch.match === null) return walkUnmatched(db, branch, order, deadline)
  const walk = matchWalk(branch, branch.match, order)
  if (branch.keys === null || branch.isCostly) return walkInSteps(db, branch, walk, deadline, wanted)
  const open = matchWalk({ ...branch, chats: null, keys: null }, branch.match, order)
  return walkOwn(db, branch, { open, own: walk, keys: new Set(branch.keys) }, deadline, wanted)
}

interface MatchWalk {
  readonly select: string
  /** Besides `low` and `high`. */
  readonly params: object
  readonly order: TimeOrder
  /** Whether the keys of rows that do not pass are negative. */
  readonly isTested: boolean
}

function matchWalk(branch: Branch, match: string, order: TimeOrder): MatchWalk {
  const { passes, from, params } = matchSource(branch)
  const isTested = passes !== '1'
  const key = 'message_terms.rowid'
  const select = `select ${isTested ? `case when ${passes} then ${key} else -${key} end` : key} as key ${from}
    order by message_terms.rowid ${bySort(order)}`
  return { select, params: { match, ...params }, order, isTested }
}

const rangesOf = (branch: Branch, order: TimeOrder): readonly KeyRange[] =>
  order === 'newest' ? branch.ranges : branch.ranges.toReversed()

function* walkInSteps(
  db: Mirror,
  branch: Branch,
  { select, params, order, isTested }: MatchWalk,
  deadline: Deadline,
  wanted: number,
): Generator<number, void> {
  const ranges = rangesOf(branch, order)
  yield* stepKeys(db, { select, params, ranges, order, isTested, isCostly: branch.isCostly }, deadline, wanted)
}

/** How many matches are read at once before the keys are looked up. */
const SCAN_MAX = 2048

interface OwnWalk {
  /** Walks all matches. */
  readonly open: MatchWalk
  /** Walks only matches with these keys. */
  readonly own: MatchWalk
  readonly keys: ReadonlySet<number>
}

/**
 * Which of a few messages match. A query of the index for each of their ranges costs as much as one for all matches.
 * Usually all matches are few, so they are scanned first. The ranges are queried only for the rest.
 */
function* walkOwn(
  db: Mirror,
  branch: Branch,
  { open, own, keys }: OwnWalk,
  deadline: Deadline,
  wanted: number,
): Generator<number, void> {
  const { order } = open
  const { low, high } = branch
  const statement = valuesOf<number>(db, `${open.select} ${LIMIT_ROWS}`)
  const found = statement.all({ ...open.params, low, high, rows: SCAN_MAX })
  // The keys that do not pass are negative.
  for (const key of found) if (keys.has(key)) yield key
  const end = found.at(-1)
  const last = found.length < SCAN_MAX || end === undefined ? undefined : Math.abs(end)
  if (last === undefined || deadline.isPassed()) return
  const ranges = branch.ranges.flatMap((range) => {
    const isBehind = order === 'newest' ? range.low < last : range.high > last
    const isAcross = range.low <= last && range.high >= last
    const rest = isAcross ? restOf(range, last, order) : range
    return isBehind && rest !== null ? [rest] : []
  })
  yield* walkInSteps(db, { ...branch, ranges }, own, deadline, wanted)
}

/** More chats than this probably have a large share of all messages. */
const FEW_CHATS_MAX = 200
/** How many messages are tested for their chat before the messages of many chats are collected and sorted. */
const NEAR_MAX = 4096

/** The messages of a branch without `match`: only its exclusion uses the index. */
export function* walkUnmatched(
  db: Mirror,
  branch: Branch,
  order: TimeOrder,
  deadline: Deadline,
): Generator<number, void> {
  const excluded = walkExcluded(db, branch.exclude, branch, order)
  try {
    for (const { sql, params } of asksOf(db, branch, order)) {
      for (const row of rowsOf<{ key: number; passes: number }>(db, sql).iterate(params)) {
        if (row.passes !== 0 && !excluded.has(row.key)) yield row.key
        if (deadline.isPassedAtRow()) return
      }
    }
  } finally {
    excluded.close()
  }
}

interface Ask {
  readonly sql: string
  readonly params: object
}

/** The statements to run, one after the other. */
function* asksOf(db: Mirror, branch: Branch, order: TimeOrder): Generator<Ask, void> {
  const { low, high, chats } = branch
  if (chats === null || chats.length <= FEW_CHATS_MAX) {
    yield askFor(branch, { low, high }, order, chats !== null)
    return
  }
  const edge = edgeOf(db, { low, high }, order)
  const near = edge === null ? { low, high } : order === 'newest' ? { low: edge, high } : { low, high: edge }
  yield askFor(branch, near, order, false)
  const rest = edge === null ? null : restOf({ low, high }, Number(edge), order)
  if (rest !== null) yield askFor(branch, rest, order, true)
}

/** @param isGathered true: collects the messages of the chats and sorts them. False: walks all messages and tests the chat */
function askFor(branch: Branch, { low, high }: KeyRange, order: TimeOrder, isGathered: boolean): Ask {
  const { chats } = branch
  const tests = compileTests(branch, true)
  const isOfChats = chats === null || isGathered ? '' : 'and m.chat in (select value from json_each(@chats))'
  const from = isGathered
    ? 'json_each(@chats) c cross join messages m on m.chat = c.value'
    : `messages m ${chats === null ? '' : 'indexed by message_facts'}`
  const sql = `
    select m.key, ${tests.sql ?? 1} as passes
    from ${from}
    where m.key between @low and @high and m.is_shadowed = 0 ${isOfChats}
    order by m.key ${bySort(order)}
  `
  return { sql, params: { low, high, ...tests.params, ...(chats === null ? {} : { chats: JSON.stringify(chats) }) } }
}

/** The last key of the messages that are tested for their chat; null if there are fewer. */
function edgeOf(db: Mirror, { low, high }: KeyRange, order: TimeOrder): bigint | null {
  const sql = `
    select key from messages indexed by message_facts where key between @low and @high
    order by key ${bySort(order)} limit 1 offset ${NEAR_MAX - 1}
  `
  const edge = valuesOf<number>(db, sql).get({ low, high })
  return edge === undefined ? null : BigInt(edge)
}

interface ExcludedWalk {
  /** Must be called with keys in the order of the walk. */
  readonly has: (key: number) => boolean
  readonly close: () => void
}

/** Both lists are sorted by key. Walking them in parallel queries the index once, and not once per message. */
function walkExcluded(db: Mirror, exclude: string | null, { low, high }: Branch, order: TimeOrder): ExcludedWalk {
  if (exclude === null) return { has: () => false, close: () => {} }
  const statement = valuesOf<number>(
    db,
    `select rowid from message_terms
     where message_terms match @exclude and rowid between @low and @high order by rowid ${bySort(order)}`,
  )
  const rows = statement.iterate({ exclude, low, high })
  const isAhead = (row: number, key: number): boolean => (order === 'newest' ? row > key : row < key)
  let next = rows.next()
  const has = (key: number): boolean => {
    while (next.done !== true && isAhead(next.value, key)) next = rows.next()
    return next.done !== true && next.value === key
  }
  return { has, close: () => void rows.return?.() }
}
