import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type Sqlite from 'better-sqlite3'
import Database from '../../../../sqlite.ts'
import { makeCopyFolder } from '../../../open-safely/checked-copy.ts'
import { type OpenFile, endedBy } from '../../../open-safely/cursor-file.ts'
import type { PassEnd, PassStep } from '../../../source.ts'

/** Rows per read, unless the time is up before: the keys are among the values, which may not be in memory. */
const ROWS_A_READ = 5000

const LIST_KEYS = `
select rowid, key from cursorDiskKV not indexed where rowid > ? order by rowid limit ?
`
/** Not a join: SQLite would look up each row in the table to count them. */
const VIEW = `
create temp view cursorDiskKV as
select k.key, k.num as rowid, (select c.value from main.cursorDiskKV c where c.rowid = k.num) as value
from key_list.keys k
`

/**
 * Opens a store with a damaged page in the index of its table. The keys are listed from the table into a file of ours,
 * which replaces the index: a view over both hides the table. Values are still read by rowid. The caller closes the
 * result, and `file` with it.
 * @throws what `file.read` throws if the table is damaged too, because half a list would look like a loss
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
    path: null,
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
    // SQLite's lowest rowid.
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

/** @returns at least one row, if any are left */
function listFor(db: Sqlite.Database, after: bigint, msMax: number): readonly Row[] {
  const startedAt = performance.now()
  const rows: Row[] = []
  for (const row of db.prepare<[bigint, number], Row>(LIST_KEYS).safeIntegers().iterate(after, ROWS_A_READ)) {
    rows.push(row)
    if (performance.now() - startedAt > msMax) break
  }
  return rows
}

/** A connection lasts for one read or, if the file was small enough to be copied, for all reads. */
function putInPlace(db: Sqlite.Database, path: string): void {
  if (db.prepare(`select 1 from temp.sqlite_master where name = 'cursorDiskKV'`).get() !== undefined) return
  db.prepare('attach ? as key_list').run(path)
  // The file is still protected from writes, because it was opened read-only.
  db.pragma('query_only = off')
  db.exec(VIEW)
  db.pragma('query_only = on')
}

/** Listing the keys of a large store takes a second, so it does not happen on every write of Cursor's. */
const LIST_EVERY_MS = 60_000
const IN_A_MINUTE = { depth: 'reconcile', inMs: LIST_EVERY_MS } as const
const DAMAGED = 'The index of its table is damaged, and Cursor may lose chats because of it: keep a copy of the file.'
/** The detail of a store that could be read in spite of the damage. */
export const READ_BY_TABLE = `${DAMAGED} The chats were read without the index.`
const WAITS = `${DAMAGED} The chats were read without the index; newer messages are read within a minute.`

/** Whether the store was last reported with a damaged index. Only a walk over all keys shows that it is repaired. */
export const isReportedDamaged = (detail: string | null): boolean => detail === READ_BY_TABLE || detail === WAITS

export interface Listing {
  /** When the keys were listed from the table; epoch milliseconds. */
  atMs: number
}

/** Passes over a store whose index is damaged. The state is `corrupt`, even if everything could be read. */
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

/** A store whose table does not exist yet, or was dropped, is treated as an empty table. */
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
