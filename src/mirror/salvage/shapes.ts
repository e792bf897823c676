import Database from '../../sqlite.ts'
import { migrations } from '../migrations/index.ts'
import type { Mirror } from '../open.ts'
import type { StoredRow } from './cells.ts'
import type { Value } from './records.ts'

interface Column {
  readonly name: string
  readonly type: string
  readonly isNullable: boolean
  /** Stored as the row's number, and as null in its record. */
  readonly isRowid: boolean
}

/** How the rows of a table are stored. */
export interface Shape {
  readonly table: string
  /** True for a table without rowids, which is stored as an index is. */
  readonly isIndex: boolean
  /** In the order of the record. */
  readonly columns: readonly Column[]
}

/** An empty mirror of this program's schema, or of an earlier one. */
export function emptyMirror(version = migrations.length): Mirror {
  const db = new Database(':memory:')
  for (const sql of migrations.slice(0, version)) db.exec(sql)
  return db
}

/** Made anew from the messages, or by looking at the stores again: not worth saving. */
const DERIVED = new Set(['unindexed', 'unlisted', 'sweeps', 'digest_words', 'chat_digests', 'undigested', 'unplaced'])

const LIST_TABLES = `
select name, wr as isIndex from pragma_table_list
where schema = 'main' and type = 'table' and name not like 'sqlite_%'
`
const LIST_COLUMNS = `select name, type, "notnull" as isRequired, pk from pragma_table_info(?)`

interface ColumnRow {
  readonly name: string
  readonly type: string
  readonly isRequired: number
  readonly pk: number
}

/** The tables that hold what cannot be made from others. @param version of the schema that wrote the file */
export function listShapes(version: number): Shape[] {
  const db = emptyMirror(version)
  try {
    const tables = db.prepare<[], { name: string; isIndex: number }>(LIST_TABLES).all()
    const saved = tables.filter(({ name }) => !DERIVED.has(name))
    return saved.map(({ name, isIndex }) => ({
      table: name,
      isIndex: isIndex === 1,
      columns: columnsOf(db.prepare<[string], ColumnRow>(LIST_COLUMNS).all(name), isIndex === 1),
    }))
  } finally {
    db.close()
  }
}

function columnsOf(rows: readonly ColumnRow[], isIndex: boolean): Column[] {
  const keys = rows.filter(({ pk }) => pk > 0).toSorted((a, b) => a.pk - b.pk)
  const ordered = isIndex ? [...keys, ...rows.filter(({ pk }) => pk === 0)] : rows
  return ordered.map(({ name, type, isRequired, pk }) => {
    const isRowid = !isIndex && keys.length === 1 && pk === 1 && type.toLowerCase() === 'integer'
    return { name, type: type.toLowerCase(), isNullable: isRequired === 0 && pk === 0, isRowid }
  })
}

/**
 * Whether a row that was found can be one of this table. A row that was written before its table got another column is
 * shorter.
 */
export function fits({ columns, isIndex }: Shape, { rowid, values }: StoredRow): boolean {
  if ((rowid === null) !== isIndex || values.length > columns.length) return false
  return columns.every(({ type, isNullable, isRowid }, at) => {
    const value = values[at]
    if (isRowid) return value === null
    if (value === undefined) return at > 0
    return value === null ? isNullable : isOfType(value, type)
  })
}

function isOfType(value: NonNullable<Value>, type: string): boolean {
  if (type === 'text') return typeof value === 'string'
  if (type === 'blob') return Buffer.isBuffer(value)
  if (type === 'real') return typeof value === 'number'
  return typeof value === 'bigint' || Number.isSafeInteger(value)
}
