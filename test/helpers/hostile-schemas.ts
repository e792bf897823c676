import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { cliFolder, type CursorHome, writeCliChat } from './cursor.ts'
import { user } from './eras/cli-store.ts'

/** A table of a store, and its two columns that are read. */
export interface Table {
  readonly name: string
  readonly key: string
  readonly value: string
}

export interface Kind {
  readonly what: string
  readonly tables: readonly Table[]
  /** Writes a store in which one message has the word `anvil`. @returns its path */
  readonly write: (home: CursorHome) => string
}

const items = { name: 'ItemTable', key: 'key', value: 'value' }
export const kinds: readonly Kind[] = [
  {
    what: 'the global store',
    tables: [
      { name: 'cursorDiskKV', key: 'key', value: 'value' },
      items,
      { name: 'composerHeaders', key: 'composerId', value: 'value' },
    ],
    write: (home) => {
      const store = home.global()
      store.message('a', 'm1', { type: 1, text: 'anvil' })
      store.db.exec('create table composerHeaders (composerId text, value blob)')
      return home.globalPath
    },
  },
  {
    what: 'a workspace',
    tables: [items],
    write: (home) => {
      const store = home.workspace('w', { folder: 'file:///w/shop' })
      const conversation = [{ bubbleId: 'b1', type: 1, text: 'anvil' }]
      store.item('composer.composerData', { allComposers: [{ composerId: 'a', name: 'Trees', conversation }] })
      return store.path
    },
  },
  {
    what: 'a chat of the command line',
    tables: [
      { name: 'blobs', key: 'id', value: 'data' },
      { name: 'meta', key: 'key', value: 'value' },
    ],
    write: (home) => {
      const cursor = join(home.root, '.cursor')
      const chat = { id: 'a', cwd: '/w/shop', title: 'A', createdAtMs: 1, updatedAtMs: 1, model: 'm' }
      writeCliChat(cursor, { ...chat, messages: [user('anvil')] })
      return join(cliFolder(cursor, '/w/shop', 'a'), 'store.db')
    },
  },
]

export interface Shape {
  readonly what: string
  /** The SQL that makes a table. The default is a table of two columns with a unique key. */
  readonly make?: (table: Table) => string
  /** SQL before the first table, for what a database keeps from its beginning. */
  readonly first?: string
  /** SQL on each table once its rows are in it. */
  readonly last?: (table: Table) => string
  readonly spoil?: (path: string) => void
  /** Whether all of the store's rows are read nevertheless; `by key`: unless they are found by rowids. */
  readonly isRead: boolean | 'by key'
}

const plain = ({ name, key, value }: Table): string =>
  `create table ${name} (${key} text unique on conflict replace, ${value} blob)`
const withColumn =
  (column: string) =>
  ({ name, key, value }: Table): string =>
    `create table ${name} (${key} text unique, ${value} blob, ${column})`

/** An endless view, with rows that look like those of a store. */
const endless = ({ name, key, value }: Table): string => `
create view ${name} as with recursive n (i) as (select 1 union all select i + 1 from n)
select 'bubbleId:endless:' || i as ${key}, '{"type":1,"text":"endless"}' as ${value} from n
`
/** A table of a kind that the program does not have. */
const ofModule = (sql: string): string => `
pragma writable_schema = on;
insert into sqlite_master (type, name, tbl_name, rootpage, sql) values ('table', 'odd', 'odd', 0, '${sql}');
pragma writable_schema = reset
`
const moved = ({ name, key, value }: Table, sql: string): string =>
  `alter table ${name} rename to kept; ${sql.replaceAll('NAME', name).replaceAll('KEY', key).replaceAll('VALUE', value)};
   alter table kept rename to "kept ${name}"`
const insert = ({ name, key, value }: Table, rows: string): string =>
  `insert into ${name} (${key}, ${value}) values ${rows}`

const OTHER_SALT = 8

export const shapes: readonly Shape[] = [
  { what: 'a column named rowid', make: withColumn('rowid text'), isRead: 'by key' },
  { what: 'columns with all names of a rowid', make: withColumn('rowid, _rowid_, oid'), isRead: 'by key' },
  { what: 'a column named oid', make: withColumn('oid text'), isRead: true },
  {
    what: 'no column of values',
    last: ({ name, value }) => `alter table ${name} rename column ${value} to other`,
    isRead: false,
  },
  {
    what: 'no column of keys',
    last: ({ name, key }) => `alter table ${name} rename column ${key} to other`,
    isRead: false,
  },
  { what: 'an endless view', last: (table) => `drop table ${table.name}; ${endless(table)}`, isRead: false },
  { what: 'a view', last: (table) => moved(table, 'create view NAME as select * from kept'), isRead: false },
  {
    what: 'no rowids',
    make: ({ name, key, value }) =>
      `create table ${name} (${key} text primary key, ${value} blob) without /* no */ rowid`,
    isRead: 'by key',
  },
  {
    what: 'triggers',
    last: ({ name }) => `create trigger "on ${name}" after insert on ${name} begin select raise(abort, 'no'); end`,
    isRead: true,
  },
  { what: 'another column that is computed', make: withColumn('more text generated always as (1 / 0)'), isRead: true },
  {
    what: 'values that are computed, of 900 MB each',
    last: (table) =>
      moved(
        table,
        'create table NAME (KEY text unique, VALUE blob as (zeroblob(9))); insert into NAME (KEY) select KEY from kept',
      ) +
      `; pragma writable_schema = on; update sqlite_master set sql = replace(sql, '(9)', '(900000000)'); pragma writable_schema = reset`,
    isRead: false,
  },
  { what: 'UTF-16 text', first: `pragma encoding = 'UTF-16le'`, isRead: false },
  {
    what: 'a full-text table',
    last: (table) =>
      moved(table, 'create virtual table NAME using fts5 (KEY, VALUE); insert into NAME select * from kept'),
    isRead: false,
  },
  {
    what: 'a table of an absent module',
    last: ({ name, key, value }) =>
      `drop table ${name}; ${ofModule(`create virtual table ${name} using absent (${key}, ${value})`).replaceAll(`'odd'`, `'${name}'`)}`,
    isRead: false,
  },
  {
    what: 'a table of an absent module beside it',
    last: ({ name }) => ofModule('create virtual table odd using absent (a)').replaceAll('odd', `odd_${name}`),
    isRead: true,
  },
  {
    what: 'names of a megabyte beside it',
    last: ({ name }) => `create table "${name}${'x'.repeat(500_000)}" ("${'y'.repeat(400_000)}")`,
    isRead: true,
  },
  {
    what: 'keys of all types',
    make: ({ name, key, value }) => `create table ${name} (${key}, ${value})`,
    last: (table) =>
      insert(
        table,
        `(null, 'a'), (null, null), (1, 'b'), (-1.5, 'c'), (x'ff00', 'd'), (x'627562626c6549643a', 'e'), (zeroblob(3000000), 'f')`,
      ),
    isRead: true,
  },
  {
    what: 'values of all types under odd keys',
    last: (table) =>
      insert(
        table,
        `('bubbleId:odd:1', 1), ('bubbleId:odd:2', 2.5), ('bubbleId:odd:3', null), ('composerData:odd', zeroblob(100)), ('', ''), ('bubbleId:odd:4', x'ff')`,
      ),
    isRead: true,
  },
  {
    what: 'each key three times',
    make: ({ name, key, value }) => `create table ${name} (${key} text, ${value} blob)`,
    last: ({ name }) => `insert into ${name} select * from ${name}; insert into ${name} select * from ${name} limit 1`,
    isRead: true,
  },
  {
    what: 'strict columns',
    make: ({ name, key, value }) => `create table ${name} (${key} text unique, ${value} any) strict`,
    isRead: true,
  },
  {
    what: 'checks that no row meets',
    make: ({ name, key, value }) =>
      `pragma ignore_check_constraints = on; create table ${name} (${key} text unique check (0), ${value} blob check (length(${value}) < 0))`,
    isRead: true,
  },
  {
    what: 'partial indexes',
    make: ({ name, key, value }) =>
      `create table ${name} (${key} text, ${value} blob); create unique index "on ${name}" on ${name} (${key}) where ${key} > 'zzz'`,
    isRead: true,
  },
  {
    what: 'an order of its own that is absent',
    last: ({ name, key }) =>
      `create index "by ${name}" on ${name} (${key}); pragma writable_schema = on; update sqlite_master set sql = replace(sql, '(${key})', '(${key} collate absent)') where name = 'by ${name}'; pragma writable_schema = reset`,
    isRead: 'by key',
  },
  {
    what: 'another application and version',
    first: 'pragma application_id = -1; pragma user_version = -2147483648',
    isRead: true,
  },
  { what: 'pages of 512 bytes', first: 'pragma page_size = 512', isRead: true },
  { what: 'pages of 65,536 bytes', first: 'pragma page_size = 65536', isRead: true },
  { what: 'auto-vacuum', first: 'pragma auto_vacuum = full', isRead: true },
  { what: 'tables without rows', last: ({ name }) => `delete from ${name}`, isRead: false },
  {
    what: 'the least and the greatest rowids',
    last: ({ name, key, value }) =>
      `update ${name} set rowid = -rowid; insert into ${name} (rowid, ${key}, ${value}) values (-9223372036854775808, 'bubbleId:far:1', '{"type":1,"text":"far"}'), (9223372036854775807, 'bubbleId:far:2', '{"type":1,"text":"far"}')`,
    isRead: true,
  },
  {
    what: 'encrypted pages',
    spoil: (path) =>
      writeFileSync(
        path,
        readFileSync(path).map((byte, at) => (byte * 7 + at * 13) % 256),
      ),
    isRead: false,
  },
  {
    what: 'a schema that makes no sense',
    last: ({ name }) =>
      `pragma writable_schema = on; update sqlite_master set sql = 'create nonsense' where name = '${name}'; pragma writable_schema = reset`,
    isRead: false,
  },
  {
    what: 'the WAL of another database',
    first: 'pragma journal_mode = wal',
    spoil: (path) => writeFileSync(`${path}-wal`, foreignWal()),
    isRead: false,
  },
  {
    what: 'the journal of another database',
    spoil: (path) =>
      writeFileSync(
        `${path}-journal`,
        Buffer.concat([Buffer.from('d9d505f920a163d7', 'hex'), Buffer.alloc(5000, OTHER_SALT)]),
      ),
    isRead: false,
  },
]

/** A WAL with valid checksums, whose pages are those of an empty database. */
function foreignWal(): Buffer {
  const path = `${process.env['TMPDIR'] ?? '/tmp'}/cursordex-foreign-${process.pid}-${performance.now()}`
  const db = new Database(path)
  db.pragma('journal_mode = wal')
  db.exec('create table other (a); insert into other values (1)')
  const bytes = readFileSync(`${path}-wal`)
  db.close()
  rmSync(path)
  return bytes
}

/** Makes a store anew in another shape. Nobody may have it open. */
export function reshape(path: string, tables: readonly Table[], shape: Shape): void {
  const rows = takeRows(path, tables)
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
  const db = new Database(path)
  db.unsafeMode()
  if (shape.first !== undefined) db.exec(shape.first)
  for (const table of tables) {
    db.exec((shape.make ?? plain)(table))
    const put = db.prepare(`insert into ${table.name} (${table.key}, ${table.value}) values (?, ?)`)
    for (const row of rows.get(table) ?? []) put.run(...row)
  }
  for (const table of tables) if (shape.last !== undefined) db.exec(shape.last(table))
  db.close()
  shape.spoil?.(path)
}

function takeRows(path: string, tables: readonly Table[]): ReadonlyMap<Table, unknown[][]> {
  const db = new Database(path)
  const rowsOf = ({ name, key, value }: Table) =>
    db.prepare<[], unknown[]>(`select ${key}, ${value} from ${name} order by rowid`).raw().all()
  const rows = new Map(tables.map((table) => [table, rowsOf(table)]))
  db.close()
  return rows
}
