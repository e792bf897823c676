import { isDamage } from '../maintenance/check-pages.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'

export type Value = null | number | bigint | string | Buffer

/** A b-tree to read: a table's own, or an index that contains all the columns. */
interface Way {
  readonly table: string
  /** Null for the table itself. */
  readonly index: string | null
  /** The columns by which the b-tree is sorted. */
  readonly keys: readonly string[]
  readonly columns: readonly string[]
  /** Lists the rowids that an index still names, null if none can be read. Null if the b-tree is not sorted by rowid. */
  readonly listRowids: (() => number[] | null) | null
  /** Whether a row can be one of this table. A page that was overwritten by another table's page shows such rows. */
  readonly fits: (row: readonly Value[]) => boolean
}

/** Seeks per b-tree at most. So many that fail take less than half a second. */
const SEEKS_MAX = 1000

interface Scan {
  /** The rowid of the last row that was read. */
  readonly last: number | null
  readonly isBroken: boolean
}

/**
 * Reads a damaged b-tree by SQL. It reads from both ends up to the damage. If the rows are sorted by rowid, it then
 * seeks into the range between, and reads from each row that it finds in both directions. A row can come twice.
 */
export class RowWalk {
  /** Whether any page could not be read. */
  isDamaged = false
  readonly #misfits = new Set<string>()
  readonly #db: Mirror
  readonly #way: Way

  constructor(db: Mirror, way: Way) {
    this.#db = db
    this.#way = way
  }

  /** How many rows were left out because they do not fit. */
  get misfits(): number {
    return this.#misfits.size
  }

  *rows(): Generator<readonly Value[]> {
    const up = yield* this.#scan('asc')
    if (!up.isBroken) return
    const down = yield* this.#scan('desc')
    if (this.#way.listRowids === null) return
    const rowids = this.#way.listRowids()
    const known = rowids === null ? null : Float64Array.from(rowids).sort()
    const gaps = [[up.last ?? -1, down.last ?? Number.MAX_SAFE_INTEGER] as const]
    let seeks = 0
    for (let gap = gaps.shift(); gap !== undefined && seeks < SEEKS_MAX; gap = gaps.shift()) {
      const [low, high] = gap
      const middle = known === null ? middleNumber(low, high) : middleKnown(known, low, high)
      if (middle === undefined) continue
      seeks += 1
      const before = yield* this.#scan('desc', low + 1, middle)
      const after = yield* this.#scan('asc', middle, high)
      // The widest gaps stay in front, roughly.
      if (before.isBroken) gaps.push([low, before.last ?? middle])
      if (after.isBroken) gaps.push([after.last ?? middle, high])
    }
  }

  /** @param bounds the first rowid, and the first one beyond the last */
  *#scan(order: 'asc' | 'desc', ...bounds: [number, number] | []): Generator<readonly Value[], Scan> {
    const { table, index, keys, columns, fits } = this.#way
    const sql = `select ${[...keys, ...columns].join(', ')} from ${table}
      ${index === null ? 'not indexed' : `indexed by ${index}`} ${bounds.length === 0 ? '' : 'where rowid >= ? and rowid < ?'}
      order by ${keys.map((key) => `${key} ${order}`).join(', ')}`
    let last: number | null = null
    try {
      const rows = prepared<Value[]>(this.#db, sql).raw().safeIntegers()
      for (const row of rows.iterate(...bounds)) {
        const values = row.slice(keys.length)
        if (fits(values)) {
          last = Number(row[0])
          yield values
        } else this.#misfits.add(row.slice(0, keys.length).join(' '))
      }
      return { last, isBroken: false }
    } catch (error) {
      if (!isUnreadable(error)) throw error
      this.isDamaged = true
      return { last, isBroken: true }
    }
  }
}

/** Errors of a damaged page, a part of the disk that cannot be read, or a damaged length. */
const UNREADABLE = /^SQLITE_(IOERR_(READ|SHORT_READ|CORRUPTFS|DATA)|TOOBIG)$/

export const isUnreadable = (error: unknown): boolean =>
  isDamage(error) || (error instanceof Error && 'code' in error && UNREADABLE.test(String(error.code)))

/** The middle one of the known rowids between two others. */
function middleKnown(known: Float64Array, low: number, high: number): number | undefined {
  const [start, end] = [countBelow(known, low + 1), countBelow(known, high)]
  return start < end ? known[Math.floor((start + end) / 2)] : undefined
}

function countBelow(sorted: Float64Array, limit: number): number {
  let [start, end] = [0, sorted.length]
  while (start < end) {
    const middle = Math.floor((start + end) / 2)
    if ((sorted[middle] ?? limit) < limit) start = middle + 1
    else end = middle
  }
  return start
}

/** Limits that are far apart are halved by magnitude: without a known end the range is all numbers. */
function middleNumber(low: number, high: number): number | undefined {
  const middle = Math.floor(high > 4 * (low + 2) ? Math.sqrt((low + 2) * high) : (low + high) / 2)
  return middle > low && middle < high ? middle : undefined
}
