import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ARCHIVE_LOCK, explainForbidden } from '../../api/archives/manifest-files.ts'
import { isFile, makeFolder } from '../../api/archives/plain-files.ts'
import { UserError } from '../../model/user-error.ts'
import { lockFile, type Lock } from '../lock.ts'

/** How long to wait for another program that writes to the same folder. */
const LOCK_WAIT_MS = 5000

/**
 * Locks an archive folder for writing. The system releases the lock when the process ends.
 * @throws UserError `archive-busy`, `archive-folder`
 */
export function takeArchiveLock(dir: string): Lock {
  try {
    return lockFolder(dir)
  } catch (error) {
    throw explainForbidden(error)
  }
}

function lockFolder(dir: string): Lock {
  makeFolder(dir, dir)
  const path = join(dir, ARCHIVE_LOCK)
  if (existsSync(path) && !isFile(path)) {
    throw new UserError('archive-folder', `${path} is not a plain file.`, 'Move it away.')
  }
  const lock = lockFile(path, LOCK_WAIT_MS)
  if (lock !== null) return lock
  throw new UserError('archive-busy', `Another program is working in ${dir}.`, 'Try again when it is done.')
}
