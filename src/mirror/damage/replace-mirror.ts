import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join, basename } from 'node:path'
import { openWriter, type Mirror } from '../open.ts'
import { takeMark } from './clean-mark.ts'
import type { ChatId } from '../../model/ids.ts'
import Database from '../../sqlite.ts'
import { noteUncounted, rewriteChats } from '../write/write.ts'
import { projectIdOf } from '../projects/owners.ts'
import { countBars, noteStage, takeTombstones } from '../purge/bars.ts'
import { FORMER_NAMES } from '../schema.ts'
import { codeOf, isUnreadable } from './find-damage.ts'

const NAME = /^mirror-damaged-[\w-]+\.db$/
/** The main file last: while it has its old name, the move can be finished. */
const SUFFIXES = ['-shm', '-wal', '']
/** A new mirror that is not complete yet. */
const UNFINISHED = '-unfinished'
/** A complete new mirror has the name of the damaged file with this suffix until it takes its place. */
const COMPLETE = '-new'

/**
 * Makes a new mirror of what can be read of a damaged one, which gets a name with the date, in the same folder, with its
 * WAL. Nobody may have it open. If the process is killed, or the disk is full, the damaged mirror is still in its place,
 * or `finishReplacing` puts the new one there.
 */
export function replaceMirror(path: string, nowMs: number): void {
  const unfinished = path + UNFINISHED
  remove(unfinished)
  const file = `mirror-damaged-${new Date(nowMs).toISOString().replaceAll(/[:.]/g, '')}.db`
  const db = openWriter(unfinished)
  try {
    salvage(db, path, file, nowMs)
    db.pragma('wal_checkpoint(truncate)')
  } finally {
    db.close()
  }
  // Only the main file gets the new name.
  if (sizeOf(`${unfinished}-wal`) > 0) throw new Error(`${unfinished} is not complete without its write-ahead log`)
  renameSync(unfinished, nextTo(path, file) + COMPLETE)
  finishReplacing(path)
}

/** Gives a complete new mirror the place of the damaged one. A mirror must never be opened without its WAL. */
export function finishReplacing(path: string): void {
  if (!existsSync(dirname(path))) return
  for (const name of readdirSync(dirname(path))) {
    const file = name.slice(0, -COMPLETE.length)
    if (!name.endsWith(COMPLETE) || !NAME.test(file)) continue
    // The mark is of the damaged file.
    takeMark(path)
    // SQLite made an empty one to read the file.
    if (sizeOf(`${path}-wal`) === 0) rmSync(`${path}-wal`, { force: true })
    for (const suffix of SUFFIXES) {
      if (existsSync(path + suffix)) renameSync(path + suffix, nextTo(path, file) + suffix)
    }
    rmSync(`${nextTo(path, file)}-shm`, { force: true })
    renameSync(nextTo(path, name), path)
  }
}

/** Removes the files that were set aside, with their WALs. */
export function dropSetAside(path: string): void {
  for (const name of readdirSync(dirname(path))) if (NAME.test(name)) remove(nextTo(path, name))
}

const nextTo = (path: string, file: string): string => join(dirname(path), file)

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

const remove = (path: string): void => SUFFIXES.forEach((suffix) => rmSync(path + suffix, { force: true }))

const count = (value: number): string => value.toLocaleString('en')

/** The damaged mirrors of which salvaging ended. `lost`: messages that are known to be lost. */
const LIST = `select file, chats, messages, lost from salvages where done_at is not null order by file`

export interface SalvageNotice {
  /** The damaged file. */
  readonly path: string
  readonly text: string
  /** Whether anything is known to be lost, or nothing could be read. */
  readonly isLossy: boolean
}

/** Sentences about the damaged mirrors that are still there. @param mirrorPath the mirror */
export function listSalvages(db: Mirror, mirrorPath: string): SalvageNotice[] {
  return db
    .prepare<[], { file: string; chats: number; messages: number; lost: number }>(LIST)
    .all()
    .map(({ file, chats, messages, lost }) => {
      const path = nextTo(mirrorPath, file)
      const unreadable = lost === 0 ? '' : ` ${count(lost)} messages could not be read.`
      const text = `The mirror was damaged and was replaced by a new one. ${count(messages)} messages of ${count(chats)} chats were saved.${unreadable} The damaged file is ${path}.`
      return { path, text, isLossy: lost > 0 || messages === 0 }
    })
    .filter(({ path }) => existsSync(path))
}

/** Tables that follow from others or from the stores, and the name of the mirror: a new one is another mirror. */
const NOT_SAVED = new Set(
  'index_changes index_epochs sweeps calls uncounted unplaced identity message_sums live_rows'.split(' '),
)

/**
 * A row that a source counts as read may be lost. So each source counts as unread; of its rows only their keys are
 * saved, and the next pass compares all of them with the store. Rows of before a purge can be in unused pages of a damaged
 * file.
 */
const READ_AGAIN = `
update sources set identity = null, signature = null, watermark = null, watermark_key = null, counted_at = null,
  reconciled_at = null;
update source_rows set source_rowid = -1, octets = -1, checksum = null;
`
const FORGET_STAGES = `delete from purge_stages where stage <> 'known'`

/** Has the next pass read everything again that Cursor still has, such as the texts that are broken here. */
export const readAgain = (db: Mirror): void => void db.exec(READ_AGAIN)

/** A message without its body is lost. Bytes of another page can be in the middle of a body. */
const DROP_LOST = `
delete from bodies where not json_valid(parts);
delete from messages where body not in (select num from bodies);
delete from bodies where num not in (select body from messages);
`

const END = `
insert into salvages (file, begun_at, done_at, lost, chats, messages)
values (?, ?, ?, ?, (select count(*) from chats), (select count(*) from messages))
`

/**
 * Copies all rows that SQLite can read of a damaged mirror into a new one, which is empty. Until the next pass all sources
 * count as unread: it reads again what Cursor still holds, and marks what it does not.
 * @param from the damaged file, which stays as it is @param file the name that it gets
 */
export function salvage(db: Mirror, from: string, file: string, nowMs: number): void {
  const damaged = new Database(from, { readonly: true, fileMustExist: true })
  // Until the end, rows name rows that are not there yet.
  db.pragma('foreign_keys = off')
  try {
    // SQLite then opens a truncated file as well, and uses the part of the schema that it could read.
    damaged.unsafeMode(true)
    damaged.pragma('writable_schema = on')
    const former = tablesOf(damaged)
    for (const [name, { columns, keys }] of tablesOf(db)) {
      const formerName = former.has(name) ? name : (FORMER_NAMES[name] ?? name)
      const known = columns.filter((column) => former.get(formerName)?.columns.includes(column))
      if (NOT_SAVED.has(name) || known.length === 0) continue
      db.transaction(() => copyTable([damaged, formerName], [db, name], { columns: known, keys }))()
    }
    try {
      if (former.has('tombstones')) takeTombstones(db, damaged, from)
    } catch (error) {
      if (!isUnreadable(error)) throw error
      // The bars of an older version cannot be read. So one more is known than there are.
      noteStage(db, 'known', countBars(db) + 1)
    }
    const namesIn: NamesIn = (table, key, name) => {
      const names = new Map<number, string>()
      if (former.get(table)?.columns.includes(name) !== true) return names
      const use = ([num, text]: readonly Value[]) => names.set(Number(num), String(text))
      readFromBothEnds(damaged, `select ${key}, ${name} from ${table}`, [name], use)
      return names
    }
    const named = new Set([...namesIn('messages', 'key', 'chat').keys(), ...keysOf(db)])
    db.exec(DROP_LOST)
    const lost = named.size - keysOf(db).length
    db.transaction(() => {
      readAgain(db)
      db.exec(FORGET_STAGES)
      replaceLost(db, namesIn)
    })()
    rewriteAll(db, nowMs)
    noteUncounted(db)
    db.prepare(END).run(file, nowMs, nowMs, lost)
  } finally {
    damaged.close()
    if (db.open) db.pragma('foreign_keys = on')
  }
}

const keysOf = (db: Mirror): readonly number[] => db.prepare<[], number>(`select key from messages`).pluck().all()

interface Table {
  readonly columns: readonly string[]
  /** What its rows are sorted by: `rowid`, or the columns of the primary key. */
  readonly keys: readonly string[]
}

const LIST_TABLES = `
select t.name, t.wr as hasNoRowid, c.name as column, c.pk from pragma_table_list t, pragma_table_info(t.name) c
where t.schema = 'main' and t.type = 'table' and t.name not like 'sqlite_%' order by c.pk
`

function tablesOf(db: Mirror): ReadonlyMap<string, Table> {
  const tables = new Map<string, Table>()
  // SQLite says once that a schema is damaged, and then uses what it could read of it.
  for (let again = 0; again < 2 && tables.size === 0; again += 1) {
    try {
      const rows = db.prepare<[], { name: string; hasNoRowid: number; column: string; pk: number }>(LIST_TABLES).all()
      for (const { name, hasNoRowid, column, pk } of rows) {
        const { columns, keys } = tables.get(name) ?? { columns: [], keys: hasNoRowid === 1 ? [] : ['rowid'] }
        tables.set(name, { columns: [...columns, column], keys: hasNoRowid === 1 && pk > 0 ? [...keys, column] : keys })
      }
    } catch (error) {
      if (!isUnreadable(error)) throw error
    }
  }
  return tables
}

type Value = null | number | bigint | string | Buffer

/** What an index still says of two columns, by the first one. SQLite reads the index alone if it has both. */
type NamesIn = (table: string, key: string, name: string) => ReadonlyMap<number, string>

/** Reads rows in the order of their keys, from both ends to the first page that cannot be read. */
function readFromBothEnds(
  damaged: Mirror,
  select: string,
  keys: readonly string[],
  use: (row: readonly Value[]) => void,
): void {
  for (const order of ['asc', 'desc']) {
    try {
      const sorted = `${select} order by ${keys.map((key) => `${key} ${order}`).join(', ')}`
      for (const row of damaged.prepare<[], Value[]>(sorted).raw().safeIntegers().iterate()) use(row)
      return
    } catch (error) {
      if (!isUnreadable(error)) throw error
    }
  }
}

/** Copies rows under the keys that they had. One that does not fit is left out: the page may be one of another table. */
function copyTable(
  [damaged, from]: readonly [Mirror, string],
  [db, name]: readonly [Mirror, string],
  { columns, keys }: Table,
): void {
  const list = columns.join(', ')
  const insert = db.prepare(`insert or ignore into ${name} (${list}) values (?${', ?'.repeat(columns.length - 1)})`)
  readFromBothEnds(damaged, `select ${list} from ${from} not indexed`, keys, (row) => {
    try {
      insert.run(...row)
    } catch (error) {
      if (!codeOf(error).startsWith('SQLITE_CONSTRAINT')) throw error
    }
  })
}

const ADD_CHAT = `
insert into chats (num, id, source, format, title, title_source, revision)
select @num, @name, coalesce((select min(source) from messages where chat = @num), 1), 'split', '', 'none',
  (select coalesce(max(revision), 0) + 1 from chats)
`
const ADD_SOURCE = `insert into sources (num, id, kind, path, rank, state) values (@num, @name, '', '', 99, 'missing')`
const ADD_PROJECT = `insert into projects (num, id, uri, path, name) values (@num, @projectId, @name, @path, @base)`
const ADD_MACHINE = `insert into machines (id, uuid, name, user) values (@num, @name, @name, '')`

/** For a lost row that others name: its table, key and name, which an index may still have, and the row in its place. */
const STAND_INS = [
  ['chats', 'num', 'id', ADD_CHAT],
  ['sources', 'num', 'id', ADD_SOURCE],
  ['projects', 'num', 'uri', ADD_PROJECT],
  ['machines', 'id', 'uuid', ADD_MACHINE],
] as const

const LIST_LINKS = `
select t.name as child, f."from" as link from pragma_table_list t, pragma_foreign_key_list(t.name) f
where t.schema = 'main' and f."table" = ?
`

/**
 * A lost chat, source, project or machine that others name gets a row with the name that an index still has, and the next
 * pass fills it. If the index is lost too, the name is made up: the messages at least stay together.
 */
function replaceLost(db: Mirror, namesIn: NamesIn): void {
  for (const [table, key, column, sql] of STAND_INS) {
    const links = db.prepare<[string], { child: string; link: string }>(LIST_LINKS).all(table)
    const named = links.map(({ child, link }) => `select ${link} from ${child} where ${link} is not null`)
    const query = `${named.join(' union ')} except select ${key} from ${table}`
    const lost = db.prepare<[], number>(query).pluck().all()
    const names = lost.length === 0 ? null : namesIn(table, key, column)
    for (const num of lost) {
      const name = names?.get(num) ?? `salvaged-${num}`
      const path = URL.canParse(name) ? decodeURIComponent(new URL(name).pathname) : name
      db.prepare(sql).run({ num, name, projectId: projectIdOf(name), path, base: basename(path) })
    }
  }
}

const LIST_SOURCES = `select distinct source from chats`
const LIST_CHATS = `select id from chats where source = ?`

/** What follows from a chat's messages is made anew: some of them may be lost, and it too. */
function rewriteAll(db: Mirror, nowMs: number): void {
  for (const source of db.prepare<[], number>(LIST_SOURCES).pluck().all())
    rewriteChats(db, source, db.prepare<[number], ChatId>(LIST_CHATS).pluck().all(source), nowMs, false)
}
