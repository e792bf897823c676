import { closeSync, existsSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type Sqlite from 'better-sqlite3'
import Database from '../../sqlite.ts'
import { codeOf, isOfIndex, isUnreadable } from '../damage/find-damage.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../sql.ts'
import { LAST_CHANGE } from './changes.ts'

/** The file of the full-text index. It follows from the mirror: it may be deleted at any time, and no backup needs it. */
export type IndexFile = Sqlite.Database

export const indexPath = (mirrorPath: string): string => join(dirname(mirrorPath), 'index.db')

/** The name under which readers of the mirror have the index attached. */
export const ATTACHED = 'fulltext'

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

const READ_POSITION = `select mirror, num, mark, is_open as isOpen, checked_at as checkedAtMs from position`
export const readPosition = (index: IndexFile): Position | undefined => prepared<Position>(index, READ_POSITION).get()

/** Where the mirror is now. */
const MIRROR_POSITION = `
select identity.id as mirror, ${LAST_CHANGE} as num,
  coalesce((select mark from index_epochs order by num desc limit 1), '') as mark
from identity
`
export const mirrorPosition = (mirror: Mirror): Pick<Position, 'mirror' | 'num' | 'mark'> => {
  const position = prepared<Pick<Position, 'mirror' | 'num' | 'mark'>>(mirror, MIRROR_POSITION).get()
  if (position === undefined) throw new Error('the mirror has no identity')
  return position
}

/** The last change of the epoch with this mark. */
const END_OF_EPOCH = `
select coalesce((select min(first) from index_epochs next where next.num > epoch.num), ${LAST_CHANGE})
from index_epochs epoch where mark = ?
`

const FIRST_KEPT = `select min(num) from index_changes`

/**
 * Whether the mirror knows all that the index took, and still has all changes since. It does not if one of them was put
 * back, or is another one.
 */
function isOfMirror(position: Position, mirror: Mirror): boolean {
  if (position.mirror !== mirrorPosition(mirror).mirror) return false
  const end = prepared<number>(mirror, END_OF_EPOCH).pluck().get(position.mark)
  const firstKept = prepared<number | null>(mirror, FIRST_KEPT).pluck().get() ?? 1
  return end !== undefined && position.num <= end && position.num >= firstKept - 1
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

const IS_WAITING = `select 1 from pending limit 1`

/** Whether the index has taken and indexed everything, and was closed in order. */
export function isFollowed(path: string, mirror: Mirror): boolean {
  if (!existsSync(path)) return false
  let index: IndexFile | null = null
  try {
    index = new Database(path, { readonly: true, timeout: 10_000 })
    const position = readPosition(index)
    return (
      Number(index.pragma('user_version', { simple: true })) === VERSION &&
      position?.isOpen === 0 &&
      isOfMirror(position, mirror) &&
      position.num === mirrorPosition(mirror).num &&
      index.prepare(IS_WAITING).get() === undefined
    )
  } catch {
    // Its writer finds out why.
    return false
  } finally {
    index?.close()
  }
}

const COUNT_WAITING = `
select (select count(*) from ${ATTACHED}.pending where key > 0) + (
  select count(distinct key) from index_changes where key > 0 and num > (select num from ${ATTACHED}.position)
)
`

/** How many messages of the mirror are not searchable yet. @param db a reader that has the index attached */
export const countWaiting = (db: Mirror): number => prepared<number>(db, COUNT_WAITING).pluck().get() ?? 0

/** Whether no page of the index is damaged; false too if there is none. */
export function hasSoundPages(path: string): boolean {
  if (!existsSync(path)) return false
  const index = new Database(path, { readonly: true, timeout: 10_000 })
  try {
    return index.pragma('quick_check(1)', { simple: true }) === 'ok'
  } catch {
    return false
  } finally {
    index.close()
  }
}
