import type { Mirror } from '../../../mirror/open.ts'
import type { Deadline } from '../deadline.ts'
import type { Branch, KeyRange } from '../plan/branch.ts'
import { matchSource } from './match-source.ts'
import { listsOf } from './statement.ts'
import { bySort, restOf, stepKeys, stepThrough, type TimeOrder } from './steps.ts'
import { walkUnmatched } from './walk-unmatched.ts'

const WANTED = 1000

/**
 * The keys of all messages that pass any of the branches, each once, in order of time, until the deadline.
 * @param wanted how many are likely to be taken
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
  /** Whether its rows say if they pass. */
  readonly isTested: boolean
}

function matchWalk(branch: Branch, match: string, order: TimeOrder): MatchWalk {
  const { passes, from, params } = matchSource(branch)
  const isTested = passes !== '1'
  const select = `select message_terms.rowid as key${isTested ? `, ${passes} as passes` : ''} ${from}
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
  const steps = { select, params, ranges, order, isCostly: branch.isCostly }
  if (!isTested) yield* stepKeys(db, steps, deadline, wanted)
  else for (const [key] of stepThrough(db, { ...steps, passes: isPassing }, deadline, wanted)) yield key
}

const isPassing = (passes: number | null): boolean => passes !== 0

/** Rows of the look for all matches at once. */
const LOOK_MAX = 2048

interface OwnWalk {
  /** Of all messages. */
  readonly open: MatchWalk
  /** Of those with these keys. */
  readonly own: MatchWalk
  readonly keys: ReadonlySet<number>
}

/**
 * Of a few messages, those that match. A look into the index for each time in which they lie costs as much as one for all
 * matches, which mostly are few: only where they are many it is looked there.
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
  const statement = listsOf<[number, number?]>(db, `${open.select} limit @rows`)
  const found: [number, number?][] = statement.all({ ...open.params, low, high, rows: LOOK_MAX })
  for (const [key, passes] of found) if (passes !== 0 && keys.has(key)) yield key
  const last = found.length < LOOK_MAX ? undefined : found.at(-1)?.[0]
  if (last === undefined || deadline.isPassed()) return
  const ranges = branch.ranges.flatMap((range) => {
    const isBehind = order === 'newest' ? range.low < last : range.high > last
    const isAcross = range.low <= last && range.high >= last
    const rest = isAcross ? restOf(range, last, order) : range
    return isBehind && rest !== null ? [rest] : []
  })
  yield* walkInSteps(db, { ...branch, ranges }, own, deadline, wanted)
}
