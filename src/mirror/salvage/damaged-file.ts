import { rmSync, statSync } from 'node:fs'
import Database from '../../sqlite.ts'
import type { Mirror } from '../open.ts'
import { isUnreadable, RowWalk, type Value } from './walk-rows.ts'

export interface Column {
  readonly name: string
  readonly type: string
  readonly isRequired: number
  /** Its place in the primary key, 0 if it is not part of it. */
  readonly pk: number
}

export interface Table {
  readonly name: string
  readonly isWithoutRowid: boolean
  readonly columns: readonly Column[]
}

const LIST_TABLES = `
select name, wr from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite_%'
`
const LIST_COLUMNS = `select name, lower(type) as type, "notnull" as isRequired, pk from pragma_table_info(?)`
/** The key of a table without rowids is the table itself. */
const LIST_INDEXES = `select name from pragma_index_list(?) where partial = 0 and not (origin = 'pk' and ?)`
const LIST_INDEXED = `select name from pragma_index_xinfo(?) where name is not null`

/** The tables of a mirror. @throws SqliteError if its schema is damaged */
export function listTables(db: Mirror): Table[] {
  return db
    .prepare<[], { name: string; wr: number }>(LIST_TABLES)
    .all()
    .map(({ name, wr }) => ({
      name,
      isWithoutRowid: wr === 1,
      columns: db.prepare<[string], Column>(LIST_COLUMNS).all(name),
    }))
}

/** A damaged mirror that was set aside, with its WAL. SQLite opens it to read only. */
export class DamagedFile {
  /** False if SQLite could not read all of the schema. */
  readonly isSchemaWhole: boolean
  readonly #tables: ReadonlyMap<string, Table>
  readonly #db: Mirror
  readonly #path: string

  constructor(path: string) {
    this.#path = path
    this.#db = new Database(path, { readonly: true, fileMustExist: true })
    // SQLite then opens a truncated file as well, and uses the part of the schema that it could read.
    this.#db.unsafeMode(true)
    this.#db.pragma('writable_schema = on')
    this.isSchemaWhole = this.#tablesOrNull() !== null
    // The first statement reports the damage, the second one uses what was read.
    this.#tables = new Map(this.#tablesOrNull()?.map((table) => [table.name, table]))
  }

  /** Null if the file has no such table, or has lost it. */
  table(name: string): Table | null {
    return this.#tables.get(name) ?? null
  }

  /**
   * The ways to read these columns of a table: its own b-tree, then each index that contains all of them, which serves
   * if the table is damaged.
   */
  *walks(table: Table, wanted: readonly string[], fits: (row: readonly Value[]) => boolean): Generator<RowWalk> {
    const { name, isWithoutRowid, columns } = table
    const primary = columns.filter(({ pk }) => pk > 0).toSorted((a, b) => a.pk - b.pk)
    const keys = isWithoutRowid ? primary.map((column) => column.name) : ['rowid']
    const listRowids = isWithoutRowid ? null : () => this.#rowidsOf(table)
    yield new RowWalk(this.#db, { table: name, index: null, keys, columns: wanted, listRowids, fits })
    const isNumbered = !isWithoutRowid && primary.length === 1 && primary[0]?.type === 'integer'
    const rowids = isWithoutRowid ? [] : ['rowid', ...(isNumbered ? [primary[0]?.name] : [])]
    for (const { index, names } of this.#indexesOf(table)) {
      if (!wanted.every((column) => rowids.includes(column) || names.includes(column))) continue
      yield new RowWalk(this.#db, { table: name, index, keys: names, columns: wanted, listRowids: null, fits })
    }
  }

  /** What the indexes say of these columns. An index can outlive the rows that it names. A row can come twice. */
  *indexed(name: string, wanted: readonly string[]): Generator<readonly Value[]> {
    const table = this.table(name)
    if (table === null) return
    for (const walk of this.#indexWalks(table, wanted)) {
      yield* walk.rows()
      if (!walk.isDamaged) return
    }
  }

  close(): void {
    this.#db.close()
    // SQLite makes both to read a file in WAL mode. A WAL that was set aside is not empty, and stays.
    rmSync(`${this.#path}-shm`, { force: true })
    if (statSync(`${this.#path}-wal`, { throwIfNoEntry: false })?.size === 0) rmSync(`${this.#path}-wal`)
  }

  #indexWalks(table: Table, wanted: readonly string[]): RowWalk[] {
    return [...this.walks(table, wanted, (row) => !row.includes(null))].slice(1)
  }

  /** Null if no index of the table can be read. */
  #rowidsOf(table: Table): number[] | null {
    const rowids: number[] = []
    for (const walk of this.#indexWalks(table, ['rowid'])) {
      for (const [rowid] of walk.rows()) rowids.push(Number(rowid))
      if (!walk.isDamaged) return rowids
    }
    return rowids.length > 0 ? rowids : null
  }

  #indexesOf({ name, isWithoutRowid }: Table): { index: string; names: string[] }[] {
    const indexes = this.#db
      .prepare<[string, number], string>(LIST_INDEXES)
      .pluck()
      .all(name, isWithoutRowid ? 1 : 0)
    return indexes.map((index) => ({
      index,
      names: this.#db.prepare<[string], string>(LIST_INDEXED).pluck().all(index),
    }))
  }

  #tablesOrNull(): Table[] | null {
    try {
      return listTables(this.#db)
    } catch (error) {
      if (isUnreadable(error)) return null
      throw error
    }
  }
}
