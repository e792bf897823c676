import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { ARCHIVE_LOCK, explainDisk, verifyArchive, writeBars } from '../../api/archives/archive-files.ts'
import { makeRun, type RunOrder, type RunOutcome } from '../../api/archives/make-run.ts'
import type { ArchiveVerdict } from '../../api/answers/archives.ts'
import { isDamage } from '../../mirror/damage/find-damage.ts'
import { UserError } from '../../model/user-error.ts'
import { driven, type JobContext } from '../jobs/jobs.ts'
import { lockFile, type Lock } from '../lock.ts'

/** Makes a run of the archive. @throws UserError `archive-busy`, `archive-folder`, `archive-unproven`, `disk-full` */
export const archiveJob = (order: RunOrder, context: JobContext): Promise<RunOutcome> =>
  inFolder(order.dir, async () => {
    const db = context.mirror()
    await writeBars(order.dir, db.name)
    return driven(makeRun(db, order), context)
  })

/** Reads the archive back and compares it with its checksums. @throws UserError as `archiveJob` does */
export const verifyJob = (
  { dir }: { readonly dir: string },
  context: JobContext,
): Promise<Omit<ArchiveVerdict, 'name'>> => inFolder(dir, () => driven(verifyArchive(dir), context))

/** Holds the folder's lock while it works. */
async function inFolder<Result>(dir: string, work: () => Promise<Result>): Promise<Result> {
  const lock = takeArchiveLock(dir)
  try {
    return await work()
  } catch (error) {
    throw explainDisk(error)
  } finally {
    lock.release()
  }
}

/** How long to wait for another program that writes to the same folder. */
const LOCK_WAIT_MS = 5000

/**
 * Locks an archive folder for writing. The system releases the lock when the process ends.
 * @throws UserError `archive-busy`, `archive-folder`
 */
export function takeArchiveLock(dir: string): Lock {
  const path = join(dir, ARCHIVE_LOCK)
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    const lock = lockFile(path, LOCK_WAIT_MS)
    if (lock !== null) return lock
  } catch (error) {
    if (!isDamage(error)) throw explainDisk(error)
    // The file has other bytes. SQLite's error must not count as damage of the mirror.
    throw new UserError('archive-folder', `${path} is not a lock of cursordex.`, 'Move it away.')
  }
  throw new UserError('archive-busy', `Another program is working in ${dir}.`, 'Try again when it is done.', {
    status: 429,
  })
}
