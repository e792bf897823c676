import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type Sqlite from 'better-sqlite3'
import Database from '../../../../sqlite.ts'
import { makeCopyFolder } from '../../../open-safely/checked-copy.ts'
import { type OpenFile, endedBy } from '../../../open-safely/cursor-file.ts'
import type { PassEnd, PassStep } from '../../../source.ts'

/** Rows of one read, unless the time for it is over before: the table lies behind its values, which may not be in memory. */
const ROWS_A_READ = 5000

const LIST_KEYS = `
select rowid, key from cursorDiskKV not indexed where rowid > ? order by rowid limit ?
`
/** No join: SQLite would look up each row in the table to count them. */
const VIEW = `
create temp view cursorDiskKV as
select k.key, k.num as rowid, (select c.value from main.cursorDiskKV c where c.rowid = k.num) as value
from key_list.keys k
`

/**
 * A store with a damaged page in the index of its table. The keys are listed once more, out of the table, in a file of
 * ours, which stands in the index's place: a view over both hides the table. Values are still read by rowid.
 * To be closed; `file` is closed with it.
 * @throws what `file.read` throws where the table is damaged, too: half a list would pass for a loss
 */
function byTable(file: OpenFile): OpenFile {
  const folder = makeCopyFolder()
  const path = join(folder, 'keys.db')
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  try {
    writeList(file, path)
  } catch (error) {
    remove()
    throw error
  }
  return {
    ...file,
    read: (use) =>
      file.read((db) => {
        putInPlace(db, path)
        return use(db)
      }),
    close: () => {
      file.close()
      remove()
    },
  }
}

interface Row {
  readonly rowid: bigint
  readonly key: string | Buffer | null
}

function writeList(file: OpenFile, path: string): void {
  const list = new Database(path)
  try {
    list.pragma('journal_mode = off')
    list.pragma('synchronous = off')
    list.exec('create table keys (num integer primary key, key text)')
    const add = list.prepare('insert into keys (num, key) values (?, ?)')
    const addAll = list.transaction((rows: readonly Row[]) => rows.forEach(({ rowid, key }) => add.run(rowid, key)))
    // SQLite's least rowid.
    let after = -(2n ** 63n)
    for (let isMore = true; isMore;) {
      const from = after
      const rows = file.read((db) => listFor(db, from, file.readMsMax))
      addAll(rows)
      after = rows.at(-1)?.rowid ?? after
      isMore = rows.length > 0
    }
    list.exec('create index by_key on keys (key)')
  } finally {
    list.close()
  }
}

/** @returns at least one row, where there is one left */
function listFor(db: Sqlite.Database, after: bigint, msMax: number): readonly Row[] {
  const startedAt = performance.now()
  const rows: Row[] = []
  for (const row of db.prepare<[bigint, number], Row>(LIST_KEYS).safeIntegers().iterate(after, ROWS_A_READ)) {
    rows.push(row)
    if (performance.now() - startedAt > msMax) break
  }
  return rows
}

/** A connection lives for one read, or, where the file was small enough to be copied, for all of them. */
function putInPlace(db: Sqlite.Database, path: string): void {
  if (db.prepare(`select 1 from temp.sqlite_master where name = 'cursorDiskKV'`).get() !== undefined) return
  db.prepare('attach ? as key_list').run(path)
  // What it keeps from being written is the file, which is open for reading alone.
  db.pragma('query_only = off')
  db.exec(VIEW)
  db.pragma('query_only = on')
}

/** The keys of a large store take a second to list: not each time that Cursor writes to it. */
const LIST_EVERY_MS = 60_000
const IN_A_MINUTE = { depth: 'reconcile', inMs: LIST_EVERY_MS } as const
const DAMAGED = 'The index of its table is damaged, and Cursor may lose chats by it: keep a copy of the file.'
/** What is told of a store that could be read all the same. */
export const READ_BY_TABLE = `${DAMAGED} They were read by the table alone.`
const WAITS = `${DAMAGED} What came since they were read by the table alone is read within a minute.`

/** Whether a store was last told as one whose index is damaged. Only a walk over all keys tells that it is not. */
export const isToldDamaged = (detail: string | null): boolean => detail === READ_BY_TABLE || detail === WAITS

/** Of one store. */
export interface Listing {
  /** When its keys were listed by the table; epoch milliseconds. */
  atMs: number
}

/**
 * Passes over a store that is damaged where keys are looked up. It is told as corrupt, for so it is, whatever could be
 * read of it.
 */
export function* passByTable(
  file: OpenFile,
  listing: Listing,
  nowMs: number,
  passOver: (file: OpenFile) => Generator<PassStep, PassEnd>,
): Generator<PassStep, PassEnd> {
  if (nowMs - listing.atMs < LIST_EVERY_MS) return { state: 'corrupt', detail: WAITS, again: [IN_A_MINUTE] }
  try {
    const listed = byTable(file)
    try {
      const { again } = yield* passOver(listed)
      listing.atMs = nowMs
      return { state: 'corrupt', detail: READ_BY_TABLE, again }
    } finally {
      listed.close()
    }
  } catch (error) {
    const { state, detail } = endedBy(error)
    return { state, detail, again: [] }
  }
}

/** A store whose table is not there yet, or was dropped, holds no rows: the same algorithm runs over nothing. */
export function emptyStore(file: OpenFile): OpenFile {
  return {
    ...file,
    read: (use) => {
      const db = new Database(':memory:')
      try {
        db.exec('create table cursorDiskKV (key text unique on conflict replace, value blob)')
        return use(db)
      } finally {
        db.close()
      }
    },
  }
}
