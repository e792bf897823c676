import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import type Sqlite from 'better-sqlite3'
import { requireRegular } from '../regular-file.ts'
import Database from '../sqlite.ts'
import { UserError } from '../model/user-error.ts'
import { ATTACHED, indexPath } from './index/index-file.ts'
import { attachUser, countBars, noteStage, takeTombstones } from './purge/bars.ts'
import { refuseOther, upgrade } from './schema.ts'
import { prepared } from './sql.ts'

export type Mirror = Sqlite.Database

/**
 * The page cache of the writing connection. Memory that malloc took for pages is rarely returned, and the system caches
 * the file's pages anyway.
 */
export const CACHE_KB = 4000

const isWindows = process.platform === 'win32'

/**
 * Opens the only connection that writes, and upgrades the mirror to this program's schema. The user's file is attached. The file is created with mode
 * 0600 in a folder with mode 0700; SQLite gives the WAL the same mode.
 * @throws UserError `mirror-newer` or `mirror-older` if a version of the program that is too new or too old wrote the
 *   file
 */
export function openWriter(path: string): Mirror {
  refuseOther(path)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  createPrivately(path)
  const db = new Database(path, { timeout: 10_000 })
  try {
    db.pragma('page_size = 16384')
    db.pragma('journal_mode = wal')
    // A message that Cursor deletes tomorrow exists only here, so each commit is synced to the disk. See `inBulk`.
    db.pragma('synchronous = full')
    db.pragma('foreign_keys = on')
    db.pragma(`cache_size = -${CACHE_KB}`)
    db.pragma('cell_size_check = on')
    const isNew = db.pragma('user_version', { simple: true }) === 0
    const isBarless = attachUser(db, path)
    takeTombstones(db, db, path)
    upgrade(db)
    // A new mirror does not know how many bars the unreadable file had.
    if (isNew && isBarless) noteStage(db, 'known', countBars(db) + 1)
  } catch (error) {
    db.close()
    throw error
  }
  return db
}

export interface ReaderOptions {
  /** The size of its page cache in KB. */
  readonly cacheKb?: number
  /** False for a connection that does not search. */
  readonly isIndexWanted?: boolean
}

/**
 * Opens a read-only connection to the mirror, with its index attached if there is one. The two files have no common
 * snapshot: a search joins the rows of the index with those of the mirror.
 * @throws UserError `mirror-missing` if there is no mirror yet
 */
export function openReader(path: string, { cacheKb = 8000, isIndexWanted = true }: ReaderOptions = {}): Mirror {
  if (!existsSync(path)) {
    throw new UserError(
      'mirror-missing',
      `There is no mirror at ${path} yet.`,
      'Start the daemon once: cursordex serve',
    )
  }
  const db = new Database(path, { readonly: true, fileMustExist: true, timeout: 10_000 })
  db.pragma(`cache_size = -${cacheKb}`)
  const index = indexPath(path)
  requireRegular(index)
  if (isIndexWanted && existsSync(index)) {
    db.prepare(ATTACH).run(index)
    db.pragma(`${ATTACHED}.cache_size = -${cacheKb}`)
  }
  db.pragma('query_only = on')
  return db
}

const ATTACH = `attach database ? as ${ATTACHED}`

/** Moves the WAL's content into the database file. Call it after the file was moved: the WAL can no longer be found then. */
export function bringHome(db: Mirror): void {
  try {
    db.pragma('wal_checkpoint(truncate)')
  } catch {
    // The content of the file itself is still there.
  }
}

function createPrivately(path: string): void {
  if (existsSync(path)) {
    if (!isWindows) chmodSync(path, 0o600)
    return
  }
  closeSync(openSync(path, 'a', 0o600))
}

/**
 * Runs a long write whose rows can all be read from their source again. Commits are not synced to the disk one by one.
 * Checkpoints are rarer and the page cache is larger, because many pages are written repeatedly. A power cut may lose the
 * last commits but keeps their order. The next commit with `synchronous = full` makes all of them durable.
 */
export async function inBulk<End>(db: Mirror, write: () => Promise<End>): Promise<End> {
  db.pragma('synchronous = normal')
  db.pragma('wal_autocheckpoint = 4000')
  db.pragma('cache_size = -24000')
  try {
    return await write()
  } finally {
    // The mirror may be closed already if the program ends in the middle.
    if (db.open) {
      db.pragma('wal_autocheckpoint = 1000')
      db.pragma(`cache_size = -${CACHE_KB}`)
      db.pragma('synchronous = full')
    }
  }
}

/** Frees the page cache that bulk writing filled. */
export function shrinkMemory(db: Mirror): void {
  db.pragma('shrink_memory')
}

const SYNCHRONOUS_FULL = 2
const TOUCH = `update sources set num = num where num = ?`

/**
 * Makes all former commits durable, also during bulk writing: the data just written may exist nowhere else any more. One
 * commit with `synchronous = full` syncs all earlier ones.
 */
export function sealCommits(db: Mirror, source: number): void {
  if (Number(db.pragma('synchronous', { simple: true })) >= SYNCHRONOUS_FULL) return
  db.pragma('synchronous = full')
  try {
    prepared(db, TOUCH).run(source)
  } finally {
    db.pragma('synchronous = normal')
  }
}
