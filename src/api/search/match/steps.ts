import type { Mirror } from '../../../mirror/open.ts'
import type { Deadline } from '../deadline.ts'
import type { KeyRange } from '../plan/branch.ts'
import { LIMIT_ROWS, listsOf, valuesOf } from './statement.ts'

export type TimeOrder = 'newest' | 'oldest'

export const bySort = (order: TimeOrder): string => (order === 'newest' ? 'desc' : 'asc')

/** A key and further columns. The first of them says whether the row passes. */
export type Stepped = readonly [number, number | null, ...(readonly number[])]

export interface Steps {
  /** Selects keys in order between `@low` and `@high`. A second column is needed for tests or weights. */
  readonly select: string
  /** Besides the bounds. */
  readonly params: object
  /** In order, without overlaps. */
  readonly ranges: readonly KeyRange[]
  readonly order: TimeOrder
  /** Whether a row passes, by its second column; null if every row passes. */
  readonly passes: ((figure: number | null) => boolean) | null
  /** Whether each statement takes long before its first row. Then the steps are larger. */
  readonly isCostly: boolean
}

/** Rows of one step. The clock is not checked during a step. */
const STEP_MIN = 32
const STEP_MAX = 4096
/** If a second step is costly, this many times the likely number of rows are read. */
const COSTLY_MARGIN = 1.5
/** If a second step is costly, each reads at least this many times the rows before it, so that there are few steps. */
const COSTLY_GROWTH = 3

/** The rows that pass. @param wanted how many rows are probably needed */
export function stepThrough(
  db: Mirror,
  steps: Steps,
  deadline: Deadline,
  wanted: number,
): Generator<Stepped, void, undefined> {
  const statement = listsOf<[number, number | null, ...number[]]>(db, `${steps.select} ${LIMIT_ROWS}`)
  const { passes } = steps
  const isPassing = passes === null ? null : (row: Stepped): boolean => passes(row[1])
  const reading = { ask: (params: object): Stepped[] => statement.all(params), keyOf: firstOf, isPassing }
  return stepRows(reading, steps, deadline, wanted)
}

const firstOf = ([key]: Stepped): number => key

/**
 * Only keys, for statements with one column: an array per row costs twice as much as a number. The key of a row that does
 * not pass is negative.
 */
export function stepKeys(
  db: Mirror,
  { isTested, ...steps }: Omit<Steps, 'passes'> & { readonly isTested: boolean },
  deadline: Deadline,
  wanted: number,
): Generator<number, void, undefined> {
  const statement = valuesOf<number>(db, `${steps.select} ${LIMIT_ROWS}`)
  const reading = {
    ask: (params: object): number[] => statement.all(params),
    keyOf: Math.abs,
    isPassing: isTested ? isPositive : null,
  }
  return stepRows(reading, steps, deadline, wanted)
}

const isPositive = (key: number): boolean => key > 0

interface Reading<Row> {
  readonly ask: (params: object) => readonly Row[]
  readonly keyOf: (row: Row) => number
  readonly isPassing: ((row: Row) => boolean) | null
}

/** Reads many rows at a time: fetching rows one by one costs several times as much. */
function* stepRows<Row>(
  { ask, keyOf, isPassing }: Reading<Row>,
  { params, ranges, order, isCostly }: Omit<Steps, 'passes'>,
  deadline: Deadline,
  wanted: number,
): Generator<Row, void, undefined> {
  let readCount = 0
  let passedCount = 0
  for (const range of ranges) {
    let left: KeyRange | null = range
    while (left !== null) {
      if (readCount > 0 && deadline.isPassed()) return
      const share = isPassing === null ? 1 : (passedCount + 1) / (readCount + 2)
      const rows = (isCostly ? costlyRowsFor : rowsFor)(wanted - passedCount, share, readCount)
      const found: readonly Row[] = ask({ ...params, ...left, rows })
      for (const row of found) {
        if (isPassing?.(row) === false) continue
        passedCount += 1
        yield row
      }
      readCount += found.length
      const last = found.length < rows ? undefined : found.at(-1)
      left = last === undefined ? null : restOf(left, keyOf(last), order)
    }
  }
}

/**
 * How many rows to read for `wanted` passing ones. If more than the wanted ones are read, as many as before.
 * @param share the share that probably passes
 */
const rowsFor = (wanted: number, share: number, readCount: number): number =>
  Math.ceil(Math.min(STEP_MAX, Math.max(STEP_MIN, wanted > 0 ? likelyRows(wanted, share) : readCount)))

const costlyRowsFor = (wanted: number, share: number, readCount: number): number =>
  Math.ceil(
    Math.max(STEP_MIN, COSTLY_GROWTH * readCount, share === 1 ? wanted : likelyRows(wanted, share) * COSTLY_MARGIN),
  )

const likelyRows = (wanted: number, share: number): number => (share === 1 ? wanted : (wanted / share) * 1.1)

/** The part of a range after a key, in the order of the walk; null if there is none. */
export function restOf({ low, high }: KeyRange, last: number, order: TimeOrder): KeyRange | null {
  const rest = order === 'newest' ? { low, high: BigInt(last) - 1n } : { low: BigInt(last) + 1n, high }
  return rest.low > rest.high ? null : rest
}
