import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type Sqlite from 'better-sqlite3'
import Database from '../sqlite.ts'
import { UserError } from '../model/user-error.ts'
import { migrations } from './migrations/index.ts'

export type Mirror = Sqlite.Database

/** How many migrations this program knows. */
export const SCHEMA_VERSION = migrations.length

const isWindows = process.platform === 'win32'

/**
 * The one connection that writes, migrated to this program's schema. The file is 0600 in a 0700 folder from the
 * moment it exists; SQLite gives its WAL the same mode.
 * @throws UserError `mirror-newer` when a later version of the program wrote the file, `mirror-foreign` when none did
 *   whose schema is known
 */
export function openWriter(path: string): Mirror {
  refuseNewer(path)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  createPrivately(path)
  const db = new Database(path, { timeout: 10_000 })
  try {
    db.pragma('page_size = 16384')
    db.pragma('journal_mode = wal')
    // A message that Cursor drops tomorrow exists only here: a commit is on the disk before it counts. See `bulk.ts`.
    db.pragma('synchronous = full')
    db.pragma('foreign_keys = on')
    // What malloc once took for pages seldom goes back, and the system keeps the file's pages too.
    db.pragma('cache_size = -4000')
    db.pragma('cell_size_check = on')
    migrate(db, path)
  } catch (error) {
    db.close()
    throw error
  }
  return db
}

/**
 * A connection that cannot write.
 * @param keptKb how much of the mirror it may keep in memory
 * @throws UserError `mirror-missing` when there is no mirror yet
 */
export function openReader(path: string, keptKb = 8000): Mirror {
  if (!existsSync(path)) {
    throw new UserError(
      'mirror-missing',
      `There is no mirror at ${path} yet.`,
      'Start the daemon once: cursordex serve',
    )
  }
  const db = new Database(path, { readonly: true, fileMustExist: true, timeout: 10_000 })
  db.pragma('query_only = on')
  db.pragma(`cache_size = -${keptKb}`)
  return db
}

/** Writes what is in the WAL alone to the file, wherever that lies now: nobody finds the one by the other any more. */
export function bringHome(db: Mirror): void {
  try {
    db.pragma('wal_checkpoint(truncate)')
  } catch {
    // What the file itself holds is there all the same.
  }
}

function createPrivately(path: string): void {
  if (existsSync(path)) {
    if (!isWindows) chmodSync(path, 0o600)
    return
  }
  closeSync(openSync(path, 'a', 0o600))
}

/** Asked before anything that could write: what a later version made must be as it was when that version comes back. */
function refuseNewer(path: string): void {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) return
  const db = new Database(path, { readonly: true, timeout: 10_000 })
  try {
    const version = versionOf(db)
    if (version <= migrations.length) return
    throw new UserError(
      'mirror-newer',
      `The mirror at ${path} has schema ${version}; this version of cursordex knows ${migrations.length}.`,
      'Run the newer cursordex that wrote it, or point --data-dir at another folder.',
    )
  } finally {
    db.close()
  }
}

const versionOf = (db: Mirror): number => Number(db.pragma('user_version', { simple: true }))

/** All of them or none: until an upgrade is done, the version that wrote the mirror can still open it. */
function migrate(db: Mirror, path: string): void {
  const missing = migrations.slice(versionOf(db))
  if (missing.length === 0) return
  try {
    db.transaction(() => {
      for (const sql of missing) db.exec(sql)
      db.pragma(`user_version = ${migrations.length}`)
    })()
  } catch (error) {
    // So SQLite tells of a table or a column that is not there; a full disk and a damaged page have codes of their own.
    throw isOfSchema(error) ? foreign(path, error) : error
  }
}

const isOfSchema = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && error.code === 'SQLITE_ERROR'

const foreign = (path: string, { message }: Error): UserError =>
  new UserError(
    'mirror-foreign',
    `The mirror at ${path} cannot be brought to this version of cursordex: ${message}. It stays as it is.`,
    'Run the cursordex that wrote it, or point --data-dir at another folder.',
  )
