import type Database from 'better-sqlite3'
import { prepared } from '../../../../mirror/prepared.ts'

/** A larger value is counted but not read. */
export const SAMPLE_OCTETS_MAX = 256 * 1024
export const SAMPLES_MAX = 20
const KEY_CHARACTERS_MAX = 400

type Db = Database.Database

export interface TableRef {
  readonly name: string
  readonly columns: readonly string[]
  /** `keys`: rows with a key, a value and a rowid. `rows`: any other table. `closed`: a view, or a virtual table. */
  readonly layout: 'keys' | 'rows' | 'closed'
}

const LIST_TABLES = `
select name, type, sql from sqlite_master
where type in ('table', 'view') and name not glob 'sqlite_*'
order by name
`
const LIST_COLUMNS = `select name from pragma_table_info(?)`

export function listTables(db: Db): TableRef[] {
  const rows = prepared<{ name: string; type: string; sql: string | null }>(db, LIST_TABLES).all()
  return rows.map(({ name, type, sql }) => {
    // A view may be broken, and the module of a virtual table may be missing: listing columns would fail.
    if (type === 'view' || /^\s*create\s+virtual/i.test(sql ?? '')) return { name, columns: [], layout: 'closed' }
    const columns = prepared<{ name: string }>(db, LIST_COLUMNS)
      .all(name)
      .map((column) => column.name)
    const hasRowid = !/without\s+rowid/i.test(sql ?? '') && !columns.some((column) => /^_?rowid_?$|^oid$/i.test(column))
    const isKeyed = hasRowid && columns.includes('key') && columns.includes('value')
    return { name, columns, layout: isKeyed ? 'keys' : 'rows' }
  })
}

/** A row with the start of its key and its size; the value is not read. */
export interface KeyedRow {
  readonly rowid: bigint
  readonly key: string | null
  /** Null if the value is NULL. */
  readonly octets: number | null
}

/** Before every row. */
export const FIRST_ROWID = -(2n ** 63n)

/**
 * The rows after a rowid, as many as the time allows and at least one. In the order of the table and not of its index:
 * the size is stored with the row, and by key each row would be a jump in the file.
 */
export function walkRows(db: Db, table: string, after: bigint, readMsMax: number): KeyedRow[] {
  const sql = `
    select rowid, substr(cast(key as text), 1, ${KEY_CHARACTERS_MAX}) as key, octet_length(value) as octets
    from ${quoted(table)} where rowid > ? order by rowid
  `
  const startedAt = performance.now()
  const rows: KeyedRow[] = []
  const found = prepared<{ rowid: bigint; key: string | null; octets: bigint | null }>(db, sql).safeIntegers(true)
  for (const { rowid, key, octets } of found.iterate(after)) {
    rows.push({ rowid, key, octets: octets === null ? null : Number(octets) })
    // Reading the clock costs more than a row.
    if (rows.length % 64 === 0 && performance.now() - startedAt > readMsMax) break
    if (rows.length === 20_000) break
  }
  return rows
}

export interface SampleRow {
  readonly key: string
  readonly value: string | Buffer
}

/** The values of these rows, as many as the time allows. `taken` is how many rows were tried. */
export function readSamples(
  db: Db,
  table: string,
  rowids: readonly bigint[],
  readMsMax: number,
): { readonly rows: readonly SampleRow[]; readonly taken: number } {
  const sql = `
    select substr(cast(key as text), 1, ${KEY_CHARACTERS_MAX}) as key, value from ${quoted(table)}
    where rowid = ? and octet_length(value) <= ${SAMPLE_OCTETS_MAX} and typeof(value) in ('text', 'blob')
  `
  const startedAt = performance.now()
  const rows: SampleRow[] = []
  let taken = 0
  for (const rowid of rowids) {
    if (taken > 0 && performance.now() - startedAt > readMsMax) break
    taken += 1
    const row = prepared<SampleRow>(db, sql).get(rowid)
    if (row !== undefined) rows.push(row)
  }
  return { rows, taken }
}

export function countTable(db: Db, table: string): number {
  return prepared<{ count: number }>(db, `select count(*) as count from ${quoted(table)}`).get()?.count ?? 0
}

/** The first rows of an unknown table, only these columns; large values are left out. */
export function sampleTable(db: Db, table: string, columns: readonly string[]): Readonly<Record<string, unknown>>[] {
  if (columns.length === 0) return []
  const parts = columns.map((column) => {
    const name = quoted(column)
    return `case when octet_length(${name}) <= ${SAMPLE_OCTETS_MAX} then ${name} end as ${name}`
  })
  const sql = `select ${parts.join(', ')} from ${quoted(table)} limit ${SAMPLES_MAX}`
  return prepared<Readonly<Record<string, unknown>>>(db, sql).all()
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
