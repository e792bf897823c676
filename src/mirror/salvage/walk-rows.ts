import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { isDamage } from '../maintenance/check-pages.ts'

export type Value = null | number | bigint | string | Buffer

/** The first columns of a row's key: where a walk may begin or end. */
type Key = readonly Value[]

export interface KeyColumn {
  readonly name: string
  readonly isText: boolean
}

/** A b-tree to walk: a table's own, or an index that contains all the columns. */
interface Way {
  readonly table: string
  /** Null for the table itself. */
  readonly index: string | null
  readonly keys: readonly KeyColumn[]
  /** The numbers of the rows that an index names: where to seek if the rows are numbered. */
  readonly knownKeys?: () => number[]
  readonly columns: readonly string[]
  /** Whether a row can be one of this table. A page that was overwritten by another table's page shows such rows. */
  readonly fits: (row: readonly Value[]) => boolean
}

/** Failed seeks per walk at most: they take about a third of a second. */
const SEEKS_MAX = 1000

interface Scan {
  readonly last: Key | null
  readonly isBroken: boolean
}

/**
 * Reads a damaged b-tree by SQL. It reads from both ends up to the damage. Then it seeks into the range between, and
 * reads from each row that it finds in both directions. The widest ranges come first. Rows can come twice.
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

  /** How many rows were left out because they are not of this table, or not whole. */
  get misfits(): number {
    return this.#misfits.size
  }

  *rows(): Generator<readonly Value[]> {
    const up = yield* this.#scan('asc')
    if (!up.isBroken) return
    const down = yield* this.#scan('desc')
    const known = Float64Array.from(this.#way.knownKeys?.() ?? []).sort()
    const gaps: (readonly [low: Key, high: Key | null])[] = [[up.last ?? [], down.last]]
    let seeks = 0
    for (let gap = gaps.shift(); gap !== undefined && seeks < SEEKS_MAX; gap = gaps.shift()) {
      const [low, high] = gap
      const middle = known.length > 0 ? middleKnown(known, low, high) : middleOf(this.#way.keys, low, high)
      if (middle === null) continue
      seeks += 1
      const after = yield* this.#scan('asc', middle, high)
      const before = yield* this.#scan('desc', low, middle)
      if (before.isBroken) gaps.push([low, before.last ?? middle])
      if (after.isBroken) gaps.push([after.last ?? middle, high])
    }
  }

  *#scan(order: 'asc' | 'desc', from: Key = [], below: Key | null = null): Generator<readonly Value[], Scan> {
    const { keys, fits } = this.#way
    let last: Key | null = null
    try {
      for (const row of this.#select(order, from, below ?? [])) {
        const [key, values] = [row.slice(0, keys.length), row.slice(keys.length)]
        if (fits(values)) {
          last = key
          yield values
        } else this.#misfits.add(key.join(' '))
      }
      return { last, isBroken: false }
    } catch (error) {
      if (!isUnreadable(error)) throw error
      this.isDamaged = true
      return { last, isBroken: true }
    }
  }

  #select(order: 'asc' | 'desc', from: Key, below: Key): Iterable<Value[]> {
    const { table, index, keys, columns } = this.#way
    const names = keys.map(({ name }) => name)
    const bound = (sign: string, { length }: Key): string[] =>
      length === 0 ? [] : [`(${names.slice(0, length).join(', ')}) ${sign} (?${', ?'.repeat(length - 1)})`]
    const bounds = [...bound('>=', from), ...bound('<', below)]
    const sql = `select ${[...names, ...columns].join(', ')} from ${table}
      ${index === null ? 'not indexed' : `indexed by ${index}`} ${bounds.length === 0 ? '' : `where ${bounds.join(' and ')}`}
      order by ${names.map((name) => `${name} ${order}`).join(', ')}`
    return prepared<Value[]>(this.#db, sql)
      .raw()
      .safeIntegers()
      .iterate(...from, ...below)
  }
}

/** A disk may refuse to read a part of the file. */
const isUnreadable = (error: unknown): boolean =>
  isDamage(error) || (error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_IOERR'))

function middleKnown(known: Float64Array, [low]: Key, high: Key | null): Key | null {
  const [start, end] = [countBelow(known, Number(low ?? -1) + 1), countBelow(known, Number(high?.[0] ?? Infinity))]
  const middle = known[Math.floor((start + end) / 2)]
  return start < end && middle !== undefined ? [middle] : null
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

/** @param high null for no limit. @returns a key between them; null if there is none, or none that can be told apart */
function middleOf(keys: readonly KeyColumn[], low: Key, high: Key | null): Key | null {
  let limit = high
  for (const [at, { isText }] of keys.entries()) {
    const [under, over] = [low[at], limit === null ? null : limit[at]]
    if (over === undefined) return null
    if (under !== undefined && under === over) continue
    const value = isText ? middleText(under, over) : middleNumber(under, over)
    const shared = low.slice(0, at)
    if (value !== null) return [...shared, value]
    if (limit !== null && limit.length > at + 1 && over !== null) return [...shared, over]
    if (under === undefined) return null
    limit = null
  }
  return null
}

/** Numbers that are far apart are halved by magnitude: keys may be counts or times. */
function middleNumber(under: Value | undefined, over: Value): number | null {
  const low = under === undefined ? -1 : Number(under)
  const high = over === null ? Number.MAX_SAFE_INTEGER : Number(over)
  const middle = Math.floor(high > 4 * (low + 2) ? Math.sqrt((low + 2) * high) : (low + high) / 2)
  return middle > low && middle < high ? middle : null
}

/** Text is halved as a number of seven digits to the base 128, after what both have in common. */
function middleText(under: Value | undefined, over: Value): string | null {
  const [low, high] = [String(under ?? ''), over === null ? '\x7f' : String(over)]
  let same = 0
  while (same < low.length && low[same] === high[same]) same += 1
  const value = (text: string): number =>
    Array.from({ length: 7 }, (_, at) => Math.min(127, text.charCodeAt(same + at) || 0)).reduce(
      (sum, digit) => sum * 128 + digit,
      0,
    )
  let left = Math.floor((value(low) + value(high)) / 2)
  let middle = ''
  for (; left > 0; left = Math.floor(left / 128)) middle = String.fromCharCode(left % 128) + middle
  middle = low.slice(0, same) + middle.padStart(7, '\0').replace(/\0+$/, '')
  return middle > low && middle < high ? middle : null
}
