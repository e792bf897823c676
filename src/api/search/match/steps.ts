import type { Mirror } from '../../../mirror/open.ts'
import type { Deadline } from '../deadline.ts'
import type { KeyRange } from '../plan/branch.ts'
import { listsOf, valuesOf } from './statement.ts'

export type TimeOrder = 'newest' | 'oldest'

export const bySort = (order: TimeOrder): string => (order === 'newest' ? 'desc' : 'asc')

/** A key, and what else was asked of its row: first what says whether the row passes. */
export type Stepped = readonly [number, number | null, ...(readonly number[])]

export interface Steps {
  /** Selects a key, and where anything is tested or weighed a second figure, in order, between `@low` and `@high`. */
  readonly select: string
  /** Besides the bounds. */
  readonly params: object
  /** In order, apart from each other. */
  readonly ranges: readonly KeyRange[]
  readonly order: TimeOrder
  /** What the second figure says of a row; null where every row passes. */
  readonly passes: ((figure: number | null) => boolean) | null
  /** Each statement takes long before its first row: of few passing rows, the more are looked at the more there were. */
  readonly isCostly: boolean
}

/** Rows of one step, during which no clock is looked at. */
const STEP_MIN = 32
const STEP_MAX = 4096
/** Where a second step costs most, so many times more rows than are likely to do. */
const COSTLY_SPARE = 1.5

/** The rows that pass. @param wanted how many are likely to be taken */
export function stepThrough(
  db: Mirror,
  steps: Steps,
  deadline: Deadline,
  wanted: number,
): Generator<Stepped, void, undefined> {
  const statement = listsOf<[number, number | null, ...number[]]>(db, `${steps.select} limit @rows`)
  const { passes } = steps
  const isPassing = passes === null ? null : (row: Stepped): boolean => passes(row[1])
  const reading = { ask: (params: object): Stepped[] => statement.all(params), keyOf: firstOf, isPassing }
  return stepRows(reading, steps, deadline, wanted)
}

const firstOf = ([key]: Stepped): number => key

/** The keys alone, where nothing else is selected: a row that is a list costs twice as much as one that is a number. */
export function stepKeys(
  db: Mirror,
  steps: Omit<Steps, 'passes'>,
  deadline: Deadline,
  wanted: number,
): Generator<number, void, undefined> {
  const statement = valuesOf<number>(db, `${steps.select} limit @rows`)
  const reading = { ask: (params: object): number[] => statement.all(params), keyOf: itself, isPassing: null }
  return stepRows(reading, steps, deadline, wanted)
}

const itself = (key: number): number => key

interface Reading<Row> {
  readonly ask: (params: object) => readonly Row[]
  readonly keyOf: (row: Row) => number
  readonly isPassing: ((row: Row) => boolean) | null
}

/** Many at a time: a row that JavaScript asks for by itself costs several times as much as one of many. */
function* stepRows<Row>(
  { ask, keyOf, isPassing }: Reading<Row>,
  { params, ranges, order, isCostly }: Omit<Steps, 'passes'>,
  deadline: Deadline,
  wanted: number,
): Generator<Row, void, undefined> {
  let looked = 0
  let taken = 0
  for (const range of ranges) {
    let left: KeyRange | null = range
    while (left !== null) {
      if (looked > 0 && deadline.isPassed()) return
      const likely = rowsFor(wanted - taken, isPassing === null ? 1 : (taken + 1) / (looked + 2))
      const rows = isCostly && isPassing !== null ? Math.max(looked, Math.ceil(likely * COSTLY_SPARE)) : likely
      const found: readonly Row[] = ask({ ...params, ...left, rows })
      for (const row of found) {
        if (isPassing?.(row) === false) continue
        taken += 1
        yield row
      }
      looked += found.length
      const last = found.length < rows ? undefined : found.at(-1)
      left = last === undefined ? null : restOf(left, keyOf(last), order)
    }
  }
}

/** As many as are likely to hold what is still wanted. @param share of them that are likely to pass */
const rowsFor = (wanted: number, share: number): number =>
  Math.ceil(Math.min(STEP_MAX, Math.max(STEP_MIN, share === 1 ? wanted : (wanted / share) * 1.1)))

/** What of a range lies behind a key; null where nothing does. */
export function restOf({ low, high }: KeyRange, last: number, order: TimeOrder): KeyRange | null {
  const rest = order === 'newest' ? { low, high: BigInt(last) - 1n } : { low: BigInt(last) + 1n, high }
  return rest.low > rest.high ? null : rest
}
