import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type Sqlite from 'better-sqlite3'
import Database from '../sqlite.ts'
import { UserError } from '../model/user-error.ts'
import { migrations } from './migrations/index.ts'

export type Mirror = Sqlite.Database

/** The schema version of this program: the number of its migrations. */
export const SCHEMA_VERSION = migrations.length

/**
 * The page cache of the writing connection. Memory that malloc took for pages is rarely returned, and the system caches
 * the file's pages anyway.
 */
export const CACHE_KB = 4000

const isWindows = process.platform === 'win32'

/**
 * Opens the only connection that writes, and migrates the mirror to this program's schema. The file is created with mode
 * 0600 in a folder with mode 0700; SQLite gives the WAL the same mode.
 * @throws UserError `mirror-newer` if a later version of the program wrote the file, `mirror-foreign` if its schema is
 *   unknown
 */
export function openWriter(path: string): Mirror {
  refuseNewer(path)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  createPrivately(path)
  const db = new Database(path, { timeout: 10_000 })
  try {
    db.pragma('page_size = 16384')
    db.pragma('journal_mode = wal')
    // A message that Cursor deletes tomorrow exists only here, so each commit is synced to the disk. See `bulk.ts`.
    db.pragma('synchronous = full')
    db.pragma('foreign_keys = on')
    db.pragma(`cache_size = -${CACHE_KB}`)
    db.pragma('cell_size_check = on')
    migrate(db, path)
  } catch (error) {
    db.close()
    throw error
  }
  return db
}

/**
 * Opens a read-only connection.
 * @param cacheKb size of its page cache in KB
 * @throws UserError `mirror-missing` if there is no mirror yet
 */
export function openReader(path: string, cacheKb = 8000): Mirror {
  if (!existsSync(path)) {
    throw new UserError(
      'mirror-missing',
      `There is no mirror at ${path} yet.`,
      'Start the daemon once: cursordex serve',
    )
  }
  const db = new Database(path, { readonly: true, fileMustExist: true, timeout: 10_000 })
  db.pragma('query_only = on')
  db.pragma(`cache_size = -${cacheKb}`)
  return db
}

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

/** Runs before anything that could write. A mirror of a later version must stay unchanged until that version opens it. */
function refuseNewer(path: string): void {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) return
  const db = new Database(path, { readonly: true, timeout: 10_000 })
  try {
    const version = versionOf(db)
    if (version <= migrations.length) return
    throw new UserError(
      'mirror-newer',
      `The mirror at ${path} has schema ${version}; this version of cursordex knows ${migrations.length}.`,
      'Run the newer cursordex that wrote it, or choose another folder with --data-dir.',
    )
  } finally {
    db.close()
  }
}

const versionOf = (db: Mirror): number => Number(db.pragma('user_version', { simple: true }))

/** Runs all missing migrations or none. Until the upgrade is done, the former version can still open the mirror. */
function migrate(db: Mirror, path: string): void {
  const missing = migrations.slice(versionOf(db))
  if (missing.length === 0) return
  try {
    db.transaction(() => {
      for (const sql of missing) db.exec(sql)
      db.pragma(`user_version = ${migrations.length}`)
    })()
  } catch (error) {
    // SQLite reports a missing table or column with this code; a full disk and a damaged page have codes of their own.
    throw isSchemaError(error) ? foreignMirror(path, error) : error
  }
}

const isSchemaError = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && error.code === 'SQLITE_ERROR'

const foreignMirror = (path: string, { message }: Error): UserError =>
  new UserError(
    'mirror-foreign',
    `The mirror at ${path} cannot be upgraded to this version of cursordex: ${message}. It was not changed.`,
    'Run the cursordex that wrote it, or choose another folder with --data-dir.',
  )
