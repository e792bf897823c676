import { basename } from 'node:path'
import type { ChatId } from '../../model/ids.ts'
import Database from '../../sqlite.ts'
import { noteUncounted } from '../usage/estimates.ts'
import type { Mirror } from '../open.ts'
import { projectIdOf } from '../projects/match-project.ts'
import { emptyChange } from '../../model/change.ts'
import { fillTitles, nextRevision } from '../write/chat-columns.ts'
import { countBars, noteStage, takeTombstones } from '../purge/bars.ts'
import { writeChange } from '../write/write.ts'
import { copyTable, isUnreadable, listTables, namesIn, type TableShape } from './copy-table.ts'

/** Tables that follow from others or from the stores, and the name of the mirror: a new one is another mirror. */
const NOT_SAVED = new Set(
  'unindexed unlisted sweeps calls uncounted unplaced identity message_sums live_rows'.split(' '),
)

/**
 * A row that a source counts as read may be lost. So each source counts as unread; of its rows only their keys are
 * saved, and the next pass compares all of them with the store.
 */
const FORGET_READ = `
update sources set identity = null, signature = null, watermark = null, watermark_key = null, counted_at = null,
  reconciled_at = null;
update source_rows set source_rowid = -1, octets = -1, checksum = null;
`

/** Rows of before a purge can be in unused pages of a damaged file. */
const HONOUR_AGAIN = `delete from purge_stages where stage <> 'known'`

/** A message without its body is lost. Bytes of another page can be in the middle of a body. */
const DROP_LOST = `
delete from bodies where not json_valid(parts);
delete from messages where body not in (select num from bodies);
delete from bodies where num not in (select body from messages);
`

const FILL_INDEX = `insert into unindexed (key) select key from messages where is_shadowed = 0`

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
    copyTables(db, damaged)
    takeBars(db, damaged, from)
    const lost = countLost(db, damaged)
    db.transaction(() => {
      db.exec(FORGET_READ)
      db.exec(HONOUR_AGAIN)
      replaceLost(db, damaged)
      fillTitles(db)
      db.exec(FILL_INDEX)
    })()
    rewriteChats(db, nowMs)
    noteUncounted(db)
    db.prepare(END).run(file, nowMs, nowMs, lost)
  } finally {
    damaged.close()
    if (db.open) db.pragma('foreign_keys = on')
  }
}

function copyTables(db: Mirror, damaged: Mirror): void {
  const former = tablesOrNull(damaged) ?? tablesOrNull(damaged)
  for (const [name, { columns }] of listTables(db)) {
    if (NOT_SAVED.has(name)) continue
    const table = former?.get(name)
    const known = columns.filter((column) => table?.columns.includes(column))
    if (table !== undefined) db.transaction(() => copyTable(db, damaged, table, known))()
  }
}

/** A mirror of an older version has bars. If they cannot be read, one bar more is known than there are. */
function takeBars(db: Mirror, damaged: Mirror, path: string): void {
  if (tablesOrNull(damaged)?.has('tombstones') !== true) return
  try {
    takeTombstones(db, damaged, path)
  } catch (error) {
    if (!isUnreadable(error)) throw error
    noteStage(db, 'known', countBars(db) + 1)
  }
}

/** Null if the schema is damaged. SQLite says so once, and then uses what it could read. */
function tablesOrNull(damaged: Mirror): Map<string, TableShape> | null {
  try {
    return listTables(damaged)
  } catch (error) {
    if (isUnreadable(error)) return null
    throw error
  }
}

const LIST_MESSAGES = `select key from messages`

/** Drops messages whose text is lost. @returns how many messages were lost, as far as an index still names them */
function countLost(db: Mirror, damaged: Mirror): number {
  const named = new Set(namesIn(damaged, 'messages', 'key', 'chat').keys())
  for (const key of db.prepare<[], number>(LIST_MESSAGES).pluck().all()) named.add(key)
  db.exec(DROP_LOST)
  return named.size - db.prepare<[], number>(LIST_MESSAGES).pluck().all().length
}

const LIST_LINKS = `
select t.name as child, f."from" as link, f."table" as parent, f."to" as key
from pragma_table_list t, pragma_foreign_key_list(t.name) f where t.schema = 'main'
`

/** The column of each table with the name of its rows, for lost rows that others name. */
const NAMES = { chats: 'id', sources: 'id', projects: 'uri', machines: 'uuid' }
const ADD_CHAT = `
insert into chats (num, id, source, format, title, title_source, revision)
values (?, ?, coalesce((select min(source) from messages where chat = ?), 1), 'split', '', 'none', ?)
`
const ADD_SOURCE = `insert into sources (num, id, kind, path, rank, state) values (?, ?, '', '', 99, 'missing')`
const ADD_PROJECT = `insert into projects (num, id, uri, path, name) values (?, ?, ?, ?, ?)`
const ADD_MACHINE = `insert into machines (id, uuid, name, user) values (?, ?, ?, '')`

/**
 * A lost chat, source, project or machine that others name gets a row with the name that an index still has, and the next
 * pass fills it. If the index is lost too, the name is made up: the messages at least stay together.
 */
function replaceLost(db: Mirror, damaged: Mirror): void {
  const links = db
    .prepare<[], { child: string; link: string; parent: keyof typeof NAMES; key: string }>(LIST_LINKS)
    .all()
  for (const [parent, column] of Object.entries(NAMES)) {
    const ofParent = links.filter((one) => one.parent === parent)
    const key = ofParent[0]?.key ?? 'num'
    const named = ofParent.map(({ child, link }) => `select ${link} from ${child} where ${link} is not null`)
    const lost = db
      .prepare<[], number>(`${named.join(' union ')} except select ${key} from ${parent}`)
      .pluck()
      .all()
    if (lost.length === 0) continue
    const names = namesIn(damaged, parent, key, column)
    for (const num of lost) addLost(db, parent, num, names.get(num) ?? `salvaged-${num}`)
  }
}

function addLost(db: Mirror, table: string, num: number, name: string): void {
  if (table === 'chats') db.prepare(ADD_CHAT).run(num, name, num, nextRevision(db))
  else if (table === 'sources') db.prepare(ADD_SOURCE).run(num, name)
  else if (table === 'machines') db.prepare(ADD_MACHINE).run(num, name, name)
  else {
    const path = URL.canParse(name) ? decodeURIComponent(new URL(name).pathname) : name
    db.prepare(ADD_PROJECT).run(num, projectIdOf(name), name, path, basename(path))
  }
}

const LIST_CHATS = `select id, source from chats order by source, num`
const CHATS_MAX = 200

/** What follows from a chat's messages is made anew: some of them may be lost, and it too. */
function rewriteChats(db: Mirror, nowMs: number): void {
  const all = db.prepare<[], { id: ChatId; source: number }>(LIST_CHATS).all()
  for (const source of new Set(all.map((chat) => chat.source))) {
    const ids = all.filter((chat) => chat.source === source).map(({ id }) => id)
    for (let at = 0; at < ids.length; at += CHATS_MAX) {
      const chats = ids.slice(at, at + CHATS_MAX).map(unread)
      writeChange(db, { ...emptyChange, source, nowMs, chats, isIndexedLater: true })
    }
  }
}

const unread = (id: ChatId) => ({ id, ownRow: { kind: 'unread' as const }, messages: [], vanished: [] })
