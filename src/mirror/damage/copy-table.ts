import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { isDamage } from './find-damage.ts'

type Value = null | number | bigint | string | Buffer

/** Rows per transaction. */
const ROWS_MAX = 2000
/** Steps that meet damaged pages, per table. So many take less than half a second. */
const STEPS_MAX = 1000
const LAST_ROWID = Number.MAX_SAFE_INTEGER

/** Errors of a damaged page, a part of the disk that cannot be read, or a damaged length. */
const UNREADABLE = /^SQLITE_(IOERR_(READ|SHORT_READ|CORRUPTFS|DATA)|TOOBIG)$/

export const isUnreadable = (error: unknown): boolean =>
  isDamage(error) || (error instanceof Error && 'code' in error && UNREADABLE.test(String(error.code)))

export interface TableShape {
  readonly name: string
  readonly columns: readonly string[]
  /** What its rows are sorted by: `rowid`, or the columns of the primary key. */
  readonly keys: readonly string[]
}

const LIST_TABLES = `
select name, wr as hasNoRowid from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite_%'
`
const LIST_COLUMNS = `select name, pk from pragma_table_info(?) order by pk`

/** The tables of a mirror, by name. @throws SqliteError if its schema is damaged */
export function listTables(db: Mirror): Map<string, TableShape> {
  const tables = db.prepare<[], { name: string; hasNoRowid: number }>(LIST_TABLES).all()
  return new Map(
    tables.map(({ name, hasNoRowid }) => {
      const columns = db.prepare<[string], { name: string; pk: number }>(LIST_COLUMNS).all(name)
      const primary = columns.filter(({ pk }) => pk > 0).map((column) => column.name)
      return [
        name,
        { name, columns: columns.map((column) => column.name), keys: hasNoRowid === 1 ? primary : ['rowid'] },
      ]
    }),
  )
}

/**
 * Copies the rows of a damaged table under the keys that they had: from both ends to the first page that cannot be read,
 * and, where the rows are sorted by rowid, what can be reached between. A row that is not one of this table is left out:
 * a page may be that of another one. A row that is there already stays. Each step is one transaction.
 * @param columns those that both tables have
 * @returns whether every row was read and fitted
 */
export function* copyTable(
  db: Mirror,
  damaged: Mirror,
  { name, keys }: TableShape,
  columns: readonly string[],
): Generator<void, boolean> {
  const insert = `insert or ignore into ${name} (${columns.join(', ')}) values (?${', ?'.repeat(columns.length - 1)})`
  let isWhole = true
  const save = (row: readonly Value[]): void => {
    try {
      prepared(db, insert).run(...row)
    } catch (error) {
      if (!isUnfit(error)) throw error
      isWhole = false
    }
  }
  const copy = function* (scan: Generator<readonly Value[], Scan>): Generator<void, Scan> {
    for (;;) {
      const end = db.transaction(() => {
        for (let rows = 0; rows < ROWS_MAX; rows += 1) {
          const next = scan.next()
          if (next.done === true) return next.value
          save(next.value)
        }
        return null
      })()
      yield
      if (end !== null) return end
    }
  }
  const read = (order: 'asc' | 'desc', low = 0, high = LAST_ROWID) =>
    copy(scanRows(damaged, { table: name, keys, columns, order }, low, high))

  const up = yield* read('asc')
  if (!up.isBroken) return isWhole
  const down = yield* read('desc')
  if (keys[0] !== 'rowid') return false
  let low = (up.last ?? 0) + 1
  const high = down.last ?? LAST_ROWID
  // Beyond a damaged page, as if its length were not known: in steps that double until a page can be read.
  for (let [steps, step] = [0, 1]; steps < STEPS_MAX && low + step < high; steps += 1) {
    const after = yield* read('asc', low + step, high)
    step *= 2
    if (after.isBroken && after.last === null) continue
    yield* read('desc', low, low + step / 2)
    if (!after.isBroken) break
    low = (after.last ?? low) + 1
    step = 1
  }
  return false
}

const isUnfit = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_CONSTRAINT')

interface Scan {
  /** The rowid of the last row that was read. */
  readonly last: number | null
  readonly isBroken: boolean
}

interface Rows {
  readonly table: string
  readonly keys: readonly string[]
  readonly columns: readonly string[]
  readonly order: 'asc' | 'desc'
}

/** Reads up to the first page that cannot be read. @param low the first rowid @param high the first one beyond the last */
function* scanRows(
  damaged: Mirror,
  { table, keys, columns, order }: Rows,
  low: number,
  high: number,
): Generator<readonly Value[], Scan> {
  const isByRowid = keys[0] === 'rowid'
  const sql = `select ${keys[0]}, ${columns.join(', ')} from ${table} not indexed
    ${isByRowid ? 'where rowid >= ? and rowid < ?' : ''} order by ${keys.map((key) => `${key} ${order}`).join(', ')}`
  let last: number | null = null
  try {
    const rows = prepared<Value[]>(damaged, sql).raw().safeIntegers()
    for (const [key, ...row] of rows.iterate(...(isByRowid ? [low, high] : []))) {
      last = Number(key)
      yield row
    }
    return { last, isBroken: false }
  } catch (error) {
    if (!isUnreadable(error)) throw error
    return { last, isBroken: true }
  }
}

/** What an index still says of two columns, by the first one. SQLite reads the index alone if it has both. */
export function namesIn(damaged: Mirror, table: string, key: string, name: string): Map<number, string> {
  const names = new Map<number, string>()
  for (const order of ['asc', 'desc']) {
    try {
      const rows = damaged.prepare<[], [number, string]>(
        `select ${key}, ${name} from ${table} order by ${name} ${order}`,
      )
      for (const [num, text] of rows.raw().iterate()) names.set(num, text)
    } catch (error) {
      if (!isUnreadable(error) && !isMissing(error)) throw error
    }
  }
  return names
}

/** A table or column that the damaged file does not have, or has lost. */
const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'SQLITE_ERROR'
