import { existsSync, lstatSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { ARCHIVE_LOCK, explainDisk, writeBars } from '../../api/archives/archive-files.ts'
import { makeRun } from '../../api/archives/make-run.ts'
import type { PruneOrder } from '../../api/archives/prune.ts'
import { verifyArchive } from '../../api/archives/verify-archive.ts'
import type { ArchiveRun, ArchiveVerdict, Progress, Scope } from '../../api/http/schemas/archives.ts'
import { isDamage } from '../../mirror/damage/find-damage.ts'
import type { Mirror } from '../../mirror/open.ts'
import { SCHEMA_VERSION } from '../../mirror/upgrade.ts'
import { UserError } from '../../model/user-error.ts'
import type { Job } from '../jobs/job.ts'
import { lockFile, type Lock } from '../lock.ts'

export interface ArchiveInput {
  readonly dir: string
  readonly name: string
  readonly scope: Scope
  /** The IANA time zone of dates in the scope. */
  readonly timeZone: string
  /** The version of this program. */
  readonly version: string
  /** Which runs to remove afterwards. Null for a run that a person asked for. */
  readonly prune: PruneOrder | null
}

export interface ArchiveResult {
  readonly name: string
  /** How many chats had changed. */
  readonly packed: number
  /** Chats whose current state could not be archived. */
  readonly leftOut: ArchiveRun['leftOut']
  /** Names of the runs that were removed. */
  readonly removed: readonly string[]
}

/** Makes a run of the archive. @throws UserError `archive-busy`, `archive-folder`, `archive-unproven`, `disk-full` */
export const archiveJob: Job<ArchiveInput, ArchiveResult> = (input, context) =>
  inFolder(input.dir, () => makeArchive(input, context.mirror()))

/** Reads the archive back and compares it with its checksums. @throws UserError as `archiveJob` does */
export const verifyJob: Job<{ readonly dir: string }, Omit<ArchiveVerdict, 'name'>> = ({ dir }) =>
  inFolder(dir, () => verifyArchive(dir))

/** Holds the folder's lock while it works. */
async function* inFolder<Result>(
  dir: string,
  work: () => Generator<Progress, Result> | AsyncGenerator<Progress, Result>,
): AsyncGenerator<Progress, Result> {
  const lock = takeArchiveLock(dir)
  try {
    return yield* work()
  } catch (error) {
    throw explainDisk(error)
  } finally {
    lock.release()
  }
}

async function* makeArchive(
  { dir, name, scope, timeZone, version, prune: order }: ArchiveInput,
  db: Mirror,
): AsyncGenerator<Progress, ArchiveResult> {
  await writeBars(dir, db.name)
  const { manifest, packed } = yield* makeRun(db, {
    dir,
    name,
    job: order?.job ?? null,
    // A scope is JSON: it came in a request or from the settings.
    scope: scope as string | null,
    chats: scope === null ? null : await chatsIn(db, scope, timeZone),
    program: { name: 'cursordex', version, schema: SCHEMA_VERSION },
    now: Date.now,
  })
  const { leftOut = [], origin } = manifest
  if (order === null) return { name, packed, leftOut, removed: [] }
  // The date library is loaded only if runs are pruned.
  const { prune } = await import('../../api/archives/prune.ts')
  return { name, packed, leftOut, removed: await prune(dir, order, origin) }
}

/** Loads the query language and its date library only if the scope is a query. */
async function chatsIn(db: Mirror, scope: Scope, timeZone: string): Promise<readonly number[] | null> {
  const { readScope } = await import('../../api/archives/scope.ts')
  const { chatsOfScope } = await import('../../api/search/chats-of-scope.ts')
  const clock = { timeZone, nowMs: Date.now() }
  const query = readScope(scope, clock)
  return query === null ? null : chatsOfScope(db, query, clock)
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
    if (existsSync(path) && !lstatSync(path).isFile()) throw foreignLock(path, 'is not a plain file')
    const lock = lockFile(path, LOCK_WAIT_MS)
    if (lock !== null) return lock
  } catch (error) {
    // The file has other bytes. SQLite's error must not count as damage of the mirror.
    throw isDamage(error) ? foreignLock(path, 'is not a lock of cursordex') : explainDisk(error)
  }
  throw new UserError('archive-busy', `Another program is working in ${dir}.`, 'Try again when it is done.')
}

const foreignLock = (path: string, why: string): UserError =>
  new UserError('archive-folder', `${path} ${why}.`, 'Move it away.')
