import { chmodSync, closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import Database from '../sqlite.ts'
import { identityAt } from '../indexer/open-safely/file-identity.ts'
import { UserError } from '../model/user-error.ts'

export interface Lock {
  release(): void
  /** False once its folder was moved, removed or replaced: the lock then keeps nobody off what lies there. */
  isInPlace(): boolean
}

/**
 * One daemon to a data folder. The lock is SQLite's own on a small file: the system frees it the moment the process
 * dies, so that a killed daemon leaves nothing to clean up.
 * @throws UserError `already-running`, exit code 3
 */
export function takeLock(dataDir: string, waitMs = 0): Lock {
  const lock = lockFile(join(dataDir, 'daemon.lock'), waitMs)
  if (lock !== null) return lock
  throw new UserError(
    'already-running',
    `Another cursordex owns the data folder ${dataDir}: a daemon, or a command that writes there.`,
    'Use the daemon that runs (cursordex status) or stop it, wait for the command, or choose another folder with --data-dir.',
    { exitCode: 3 },
  )
}

/** Null where another program holds it still after `waitMs` milliseconds. */
export function lockFile(path: string, waitMs: number): Lock | null {
  // 0600 from the first moment. After this, no plain file call may touch it: closing it would drop the lock.
  closeSync(openSync(path, 'a', 0o600))
  if (process.platform !== 'win32') chmodSync(path, 0o600)
  const db = new Database(path, { timeout: waitMs })
  try {
    // A journal would stay where we are killed, and there is nothing to write.
    db.pragma('journal_mode = memory')
    db.exec('begin exclusive')
  } catch (error) {
    db.close()
    if (!(error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY')) throw error
    return null
  }
  const locked = lookAt(path)
  return { release: () => db.close(), isInPlace: () => isUnknownOr(locked, lookAt(path)) }
}

/** By `stat` alone, see above; undefined where the system does not tell, as for a disk that does not answer now. */
function lookAt(path: string): string | null | undefined {
  try {
    return identityAt(path)
  } catch {
    return undefined
  }
}

const isUnknownOr = (known: string | null | undefined, now: string | null | undefined): boolean =>
  now === undefined || known === undefined || now === known
