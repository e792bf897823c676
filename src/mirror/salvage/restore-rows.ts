import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import type { StoredRow } from './cells.ts'
import type { FoundRows } from './read-rows.ts'
import type { Value } from './records.ts'
import type { Shape } from './shapes.ts'

/**
 * How far a source was read counts no more: a row may be lost of which it says that it was read. All that is known of a
 * row that the source held is that it held it: whether it does still, and what it says, the next pass finds out.
 */
const FORGOTTEN: Readonly<Record<string, Readonly<Record<string, Value>>>> = {
  sources: {
    identity: null,
    signature: null,
    watermark: null,
    watermark_key: null,
    counted_at: null,
    reconciled_at: null,
  },
  source_rows: { source_rowid: -1, octets: -1, checksum: null },
}

/**
 * Writes rows under the numbers that they had, so that all of them go on naming each other. What is there already, from
 * an earlier attempt or from a better page, stays.
 */
export function restoreRows(db: Mirror, { shape, rows }: FoundRows): void {
  const names = shape.columns.map(({ name }) => name)
  for (const row of rows) {
    const count = Math.min(names.length, row.values.length)
    const sql = `insert or ignore into ${shape.table} (${names.slice(0, count).join(', ')}) values (?${', ?'.repeat(count - 1)})`
    prepared(db, sql).run(...valuesOf(shape, row))
  }
}

function valuesOf({ table, columns }: Shape, { rowid, values }: StoredRow): Value[] {
  const forgotten = FORGOTTEN[table] ?? {}
  return values.map((value, at) => {
    const column = columns[at]
    if (column === undefined || column.isRowid) return rowid
    return column.name in forgotten ? (forgotten[column.name] ?? null) : value
  })
}

/** A body is JSON: bytes of another page in the middle of one show. */
export function isWhole({ table }: Shape, { values }: StoredRow): boolean {
  if (table !== 'bodies') return true
  try {
    return Array.isArray(JSON.parse(String(values[1])))
  } catch {
    return false
  }
}
