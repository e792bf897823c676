import type { Statement } from 'better-sqlite3'
import type { Mirror } from '../open.ts'
import { isDamage } from './find-damage.ts'

type Value = null | number | bigint | string | Buffer

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
 * and, where the rows are sorted by rowid, what can be reached between. A row that does not fit is left out: the page may
 * be one of another table.
 * @param columns those that both tables have
 * @returns whether every row was read and fitted
 */
export function copyTable(
  db: Mirror,
  damaged: Mirror,
  { name, keys }: TableShape,
  columns: readonly string[],
): boolean {
  const isByRowid = keys[0] === 'rowid'
  const insert = db.prepare(
    `insert or ignore into ${name} (${columns.join(', ')}) values (?${', ?'.repeat(columns.length - 1)})`,
  )
  let isWhole = true

  /** Copies up to the first page that cannot be read. @param low the first rowid @param high the first one beyond the last */
  const copy = (order: 'asc' | 'desc', low = 0, high = LAST_ROWID): Copied => {
    const rows = damaged.prepare<unknown[], Value[]>(`select ${keys[0]}, ${columns.join(', ')} from ${name} not indexed
      ${isByRowid ? 'where rowid >= ? and rowid < ?' : ''} order by ${keys.map((key) => `${key} ${order}`).join(', ')}`)
    let last: number | null = null
    try {
      for (const [key, ...row] of rows
        .raw()
        .safeIntegers()
        .iterate(...(isByRowid ? [low, high] : []))) {
        last = Number(key)
        if (!isInserted(insert, row)) isWhole = false
      }
      return { last, isBroken: false }
    } catch (error) {
      if (!isUnreadable(error)) throw error
      isWhole = false
      return { last, isBroken: true }
    }
  }

  const up = copy('asc')
  if (!up.isBroken) return isWhole
  const down = copy('desc')
  let low = (up.last ?? 0) + 1
  const high = isByRowid ? (down.last ?? LAST_ROWID) : 0
  // Beyond a damaged page, whose last rowid nobody knows: in steps that double until a page can be read.
  for (let [steps, step] = [0, 1]; steps < STEPS_MAX && low + step < high; steps += 1) {
    const after = copy('asc', low + step, high)
    if (after.isBroken && after.last === null) {
      step *= 2
      continue
    }
    copy('desc', low, low + step)
    if (!after.isBroken) break
    low = (after.last ?? low) + 1
    step = 1
  }
  return false
}

interface Copied {
  /** The rowid of the last row that was read. */
  readonly last: number | null
  readonly isBroken: boolean
}

/** False if the row cannot be one of this table. A row that is there already stays. */
function isInserted(insert: Statement, row: readonly Value[]): boolean {
  try {
    insert.run(...row)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_CONSTRAINT')) return false
    throw error
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
