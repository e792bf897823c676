import { chmodSync, closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import Database from '../sqlite.ts'
import { codeOf } from '../mirror/damage/find-damage.ts'
import { identityAt, orIfUnreadable } from '../indexer/open-safely/cursor-file.ts'
import { UserError } from '../model/user-error.ts'
import { requireRegular } from '../regular-file.ts'

export interface Lock {
  release(): void
  /** False once the folder was moved, removed or replaced: the lock then does not protect the folder at this path. */
  isInPlace(): boolean
}

/**
 * Allows one daemon per data folder. It is a SQLite lock on a small file: the system releases it when the process ends,
 * so a killed daemon leaves nothing to clean up.
 * @throws UserError `already-running`, exit code 3; `bad-lock`, `not-a-file`
 */
export function takeLock(dataDir: string, waitMs = 0): Lock {
  const path = join(dataDir, 'daemon.lock')
  let lock: Lock | null
  try {
    lock = lockFile(path, waitMs)
  } catch (cause) {
    if (codeOf(cause) !== 'SQLITE_NOTADB') throw cause
    throw new UserError('bad-lock', `${path} is not a lock of cursordex.`, 'Move it away.', { cause })
  }
  if (lock !== null) return lock
  throw new UserError(
    'already-running',
    `Another cursordex uses the data folder ${dataDir}: a daemon, or a command that writes there.`,
    'Use the running daemon (cursordex status) or stop it, wait for the command, or choose another folder with --data-dir.',
    { exitCode: 3 },
  )
}

/** Returns null if another program still has the lock after `waitMs` milliseconds. @throws RefusedFile, SqliteError */
export function lockFile(path: string, waitMs: number): Lock | null {
  requireRegular(path)
  // The mode is 0600 from the start. Later no plain file call may open the file: closing it would drop the lock.
  closeSync(openSync(path, 'a', 0o600))
  if (process.platform !== 'win32') chmodSync(path, 0o600)
  const db = new Database(path, { timeout: waitMs })
  try {
    // Nothing is written, and a journal file would remain after a kill.
    db.pragma('journal_mode = memory')
    db.exec('begin exclusive')
  } catch (error) {
    db.close()
    if (codeOf(error) === 'SQLITE_BUSY') return null
    throw error
  }
  const locked = identityNow(path)
  return {
    release: () => db.close(),
    isInPlace: () => locked === undefined || [locked, undefined].includes(identityNow(path)),
  }
}

/** Uses only `stat`, see above. Undefined if the system does not report it, for example for a disk that does not respond. */
const identityNow = (path: string): string | null | undefined =>
  orIfUnreadable<string | null | undefined>(
    () => identityAt(path),
    () => undefined,
  )
