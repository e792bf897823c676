import type Sqlite from 'better-sqlite3'
import { prepared } from '../../../mirror/sql.ts'
import { UnknownLayout } from '../../open-safely/cursor-file.ts'

const FIND_TABLE = `
select type, wr as hasNoRowid, (select encoding from pragma_encoding) as encoding
from pragma_table_list(?) where schema = 'main'
`
/** A column with a number here is computed when it is read. */
const LIST_COLUMNS = `select lower(name) as name, hidden from pragma_table_xinfo(?)`

/**
 * Whether a database has the table, in a form of which rows can be read. Ask before the first read: a view or a computed
 * value can be of any size, and a view can have no end.
 * @param columns lower-case names of the columns that are read
 * @param needs `rowids` if rows are found by their rowid, `key` if by the columns alone
 * @throws UnknownLayout if it is no plain table, lacks a column, or its text is not UTF-8
 */
export function hasKnownTable(
  db: Sqlite.Database,
  table: string,
  columns: readonly string[],
  needs: 'rowids' | 'key',
): boolean {
  const found = prepared<{ type: string; hasNoRowid: number; encoding: string }>(db, FIND_TABLE).get(table)
  if (found === undefined) return false
  const refuse = (why: string): never => {
    throw new UnknownLayout(`${table} ${why}. This layout is unknown.`)
  }
  if (found.type !== 'table') refuse(`is a ${found.type === 'view' ? 'view' : 'virtual table'}, not a table`)
  if (found.encoding !== 'UTF-8') refuse(`has text that is ${found.encoding}, not UTF-8`)
  const there = new Map(
    prepared<{ name: string; hidden: number }>(db, LIST_COLUMNS)
      .all(table)
      .map(({ name, hidden }) => [name, hidden]),
  )
  if (needs === 'rowids' && (found.hasNoRowid === 1 || there.has('rowid'))) refuse('has no rowids')
  for (const column of columns) {
    if (!there.has(column)) refuse(`has no column ${column}`)
    if (there.get(column) !== 0) refuse(`computes its column ${column}`)
  }
  return true
}
