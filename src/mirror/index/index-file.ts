import { closeSync, existsSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type Sqlite from 'better-sqlite3'
import Database from '../../sqlite.ts'
import { codeOf, isOfIndex, isUnreadable } from '../damage/find-damage.ts'
import type { Mirror } from '../open.ts'
import { inserting, asking, counting, finding, findingValue, prepared, writing } from '../sql.ts'

/** The file of the full-text index. It follows from the mirror: it may be deleted at any time, and no backup needs it. */
export type IndexFile = Sqlite.Database

export const indexPath = (mirrorPath: string): string => join(dirname(mirrorPath), 'index.db')

/** The name under which readers of the mirror have the index attached. */
export const ATTACHED = 'fulltext'

// The mirror's side of the full-text index: which messages and titles changed. The index has its own file, and follows.

/** The title of a chat is noted by this key: those of messages are all positive. */
export const titleKey = (chat: number): number => -chat

/**
 * `index_changes`: the keys of messages and titles whose rows in the index are to be made anew, in the order of their
 * transactions. `index_epochs`: each opening of the mirror by a writer, with the last change before it. A mirror that
 * was put back, or that lost its last commits in a power cut, gives the same numbers again: the marks tell them apart.
 */
export const CHANGE_TABLES = `
create table index_changes (
  num integer primary key autoincrement, key integer not null, is_urgent integer not null
) strict;
create index index_changes_by_key on index_changes (key);
create table index_epochs (num integer primary key autoincrement, first integer not null, mark text not null) strict;
`

/** SQL: the number of the last change; 0 before the first one. Numbers are never given again. */
const LAST_CHANGE = `coalesce((select seq from sqlite_sequence where name = 'index_changes'), 0)`

const EPOCHS_KEPT = 100
const BEGIN_EPOCH = `
insert into index_epochs (first, mark) values (${LAST_CHANGE}, lower(hex(randomblob(8))));
delete from index_epochs where num <= (select max(num) from index_epochs) - ${EPOCHS_KEPT};
`

/** Call it when a writer opens the mirror, before it writes. */
export const beginEpoch = (db: Mirror): void => db.transaction(() => void db.exec(BEGIN_EPOCH))()

const insert = inserting('index_changes (key, is_urgent)', '(?, ?)')

/** Notes changed keys, in the transaction that changes them. @param isUrgent false if a first pass wrote them */
export function noteChanges(db: Mirror, keys: Iterable<number>, isUrgent: boolean): void {
  insert(
    db,
    [...keys].map((key) => [BigInt(key), isUrgent ? 1n : 0n]),
  )
}

/** Change it whenever the tables, or the terms that texts are cut into, change: every index is then made anew. */
const VERSION = 3

/**
 * The full-text tables are contentless. `text/` splits their input into terms, so the simplest tokenizer is enough: ASCII
 * letters, digits and everything beyond ASCII are term characters. `marks` has facts about a message as terms that no
 * text contains, and its paths. The rowid of a message's row is its key in the mirror: newest first is a walk down the
 * index, and a date range is a range of rowids.
 *
 * A page of the index is one row, on a page of the file: of 16,384 bytes a row can use 16,344, and FTS5 exceeds its
 * setting by up to 7. FTS5 buffers 32 MB before it writes. Merging waits for 16 segments, which halves the work of a
 * first pass.
 *
 * `terms` is the list of terms, for searches inside words, suggestions and corrections. `pending`: changes that were taken
 * from the mirror, and whose new rows are still missing. `position`: of which mirror, up to which change they were taken,
 * and the mark of the epoch of that change; whether a writer has the file open; when it was last checked.
 */
const TABLES = `
create virtual table message_terms using fts5 (
  text, thinking, code, tool, attachment, plan, summary, marks,
  content = '', contentless_delete = 1, tokenize = 'ascii'
);
create virtual table chat_terms using fts5 (
  title, summary,
  content = '', contentless_delete = 1, tokenize = 'ascii'
);
insert into message_terms (message_terms, rank) values ('pgsz', 16320);
insert into message_terms (message_terms, rank) values ('hashsize', 33554432);
insert into message_terms (message_terms, rank) values ('automerge', 16);
create table terms (term text primary key) strict, without rowid;
create table pending (key integer primary key, is_urgent integer not null) strict;
create index pending_by_urgency on pending (is_urgent, key);
create table position (
  mirror text not null, num integer not null, mark text not null, is_open integer not null, checked_at integer not null
) strict;
`

export interface Position {
  readonly mirror: string
  /** The last change that was taken. */
  readonly num: number
  readonly mark: string
  readonly isOpen: number
  /** Epoch milliseconds. */
  readonly checkedAtMs: number
}

export const readPosition = finding<[], Position>(
  `select mirror, num, mark, is_open as isOpen, checked_at as checkedAtMs from position`,
)

const findMirrorPosition = finding<[], Pick<Position, 'mirror' | 'num' | 'mark'>>(`
select identity.id as mirror, ${LAST_CHANGE} as num,
  coalesce((select mark from index_epochs order by num desc limit 1), '') as mark
from identity
`)

/** Where the mirror is now. */
export function mirrorPosition(mirror: Mirror): Pick<Position, 'mirror' | 'num' | 'mark'> {
  const position = findMirrorPosition(mirror)
  if (position === undefined) throw new Error('the mirror has no identity')
  return position
}

/** The last change of the epoch with this mark. */
const endOfEpoch = findingValue<[mark: string], number>(`
select coalesce((select min(first) from index_epochs next where next.num > epoch.num), ${LAST_CHANGE})
from index_epochs epoch where mark = ?
`)

const firstKept = findingValue<[], number>(`select min(num) from index_changes`)

/**
 * Whether the mirror knows all that the index took, and still has all changes since. It does not if one of them was put
 * back, or is another one.
 */
function isOfMirror(position: Position, mirror: Mirror): boolean {
  if (position.mirror !== mirrorPosition(mirror).mirror) return false
  const end = endOfEpoch(mirror, position.mark)
  return end !== null && position.num <= end && position.num >= (firstKept(mirror) ?? 1) - 1
}

/**
 * Opens the index for its only writer.
 * @returns null if there is none, or if it is damaged, of another version, or not of this mirror
 */
export function openIndex(path: string, mirror: Mirror): IndexFile | null {
  if (!existsSync(path)) return null
  let index: IndexFile | null = null
  try {
    index = connect(path)
    const isOfVersion = Number(index.pragma('user_version', { simple: true })) === VERSION
    const position = isOfVersion ? readPosition(index) : undefined
    if (position !== undefined && isOfMirror(position, mirror)) return index
  } catch (error) {
    // A table that is missing has this code.
    if (!isUnreadable(error) && !isOfIndex(error) && codeOf(error) !== 'SQLITE_ERROR') {
      index?.close()
      throw error
    }
  }
  index?.close()
  return null
}

function connect(path: string): IndexFile {
  const index = new Database(path, { timeout: 10_000 })
  try {
    index.pragma('page_size = 16384')
    index.pragma('journal_mode = wal')
    // What a power cut takes away is read from the mirror again.
    index.pragma('synchronous = normal')
    index.pragma('wal_autocheckpoint = 4000')
    index.pragma('cell_size_check = on')
  } catch (error) {
    index.close()
    throw error
  }
  return index
}

const FILL = `insert into position (mirror, num, mark, is_open, checked_at) values (@mirror, @num, @mark, 1, @nowMs)`
const WANT = `insert into pending (key, is_urgent) values (?, ?)`
/** Titles are few, and come first. */
const LIST_ALL = `
select key, 0 as isUrgent from messages where is_shadowed = 0
union all select -num, 1 from chats
`

/**
 * Makes a new index beside the old one, if there is one, and gives it its place. It is empty, and everything waits. Readers
 * that have the old one open go on with it until they are closed.
 */
export function makeIndex(path: string, mirror: Mirror, nowMs: number): IndexFile {
  const unfinished = `${path}-new`
  removeIndex(unfinished)
  closeSync(openSync(unfinished, 'a', 0o600))
  const index = connect(unfinished)
  try {
    index.transaction(() => {
      index.exec(TABLES)
      mirror.transaction(() => {
        prepared(index, FILL).run({ ...mirrorPosition(mirror), nowMs })
        const want = index.prepare<[bigint, bigint]>(WANT)
        for (const row of prepared<{ key: number; isUrgent: number }>(mirror, LIST_ALL).iterate())
          want.run(BigInt(row.key), BigInt(row.isUrgent))
      })()
      index.pragma(`user_version = ${VERSION}`)
    })()
    index.pragma('wal_checkpoint(truncate)')
  } finally {
    index.close()
  }
  // The main file first: with a WAL that is not its own, it would be damaged.
  removeIndex(path)
  renameSync(unfinished, path)
  return connect(path)
}

/** Deletes the index with its WAL. */
export function removeIndex(path: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
}

/** Asks the index file something. Null if there is none, or if it is damaged: its writer finds out why. */
function askFile<Answer>(path: string, act: (index: IndexFile) => Answer): Answer | null {
  if (!existsSync(path)) return null
  try {
    const index = new Database(path, { readonly: true, timeout: 10_000 })
    try {
      return act(index)
    } finally {
      index.close()
    }
  } catch {
    return null
  }
}

const isWaiting = asking(`select 1 from pending limit 1`)

/** Whether the mirror's index has taken and indexed everything, and was closed in order. */
export const isFollowed = (mirror: Mirror): boolean =>
  askFile(indexPath(mirror.name), (index) => {
    const position = readPosition(index)
    return (
      Number(index.pragma('user_version', { simple: true })) === VERSION &&
      position?.isOpen === 0 &&
      isOfMirror(position, mirror) &&
      position.num === mirrorPosition(mirror).num &&
      !isWaiting(index)
    )
  }) === true

/** Whether no page of the index is damaged; false too if there is none. */
export const hasSoundPages = (path: string): boolean =>
  askFile(path, (index) => index.pragma('quick_check(1)', { simple: true })) === 'ok'

/** How many messages of the mirror are not searchable yet. @param db a reader that has the index attached */
export const countWaiting = counting(`
select (select count(*) from ${ATTACHED}.pending where key > 0) + (
  select count(distinct key) from index_changes where key > 0 and num > (select num from ${ATTACHED}.position)
)
`)

const countChanges = counting(`select count(*) from index_changes`)
/** The last one that was taken stays: it shows where an older index would have a gap. */
const trimChanges = writing<[before: number]>(`delete from index_changes where num < ?`)
/** Fewer are not worth a transaction. */
const TRIMMED_MIN = 2000

/** Until schema 29 the full-text index was in the mirror's own file. */
const FORMER_TABLES = ['message_terms', 'chat_terms', 'terms']
/** Keeps its tables for the moment: to drop them takes seconds for a large mirror, and lists must not wait. */
export const LEAVE_FORMER_INDEX = FORMER_TABLES.map((name) => `alter table ${name} rename to former_${name};`).join(
  '\n',
)
/** Their room in the file is used for new rows; the file does not shrink. */
const DROP_FORMER_INDEX = FORMER_TABLES.map((name) => `drop table if exists former_${name};`).join('\n')
const hasFormerIndex = asking(`select 1 from sqlite_schema where name = 'former_${FORMER_TABLES.at(-1)}'`)

/** Forgets changes that the index has taken, and drops the index that older versions kept in the mirror, when the new one is complete. */
export function tidyChanges(db: Mirror): void {
  const isLong = countChanges(db) >= TRIMMED_MIN
  if (!isLong && !hasFormerIndex(db)) return
  const index = askFile(indexPath(db.name), (file) => ({ taken: readPosition(file)?.num, isDone: !isWaiting(file) }))
  if (index?.taken === undefined) return
  try {
    if (isLong) trimChanges(db, index.taken)
    if (index.isDone) db.exec(DROP_FORMER_INDEX)
  } catch {
    // A damaged former index, for example, must not fail what was read. It is tried again after the next pass.
  }
}
