import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { makeRun, type RunProgress } from '../api/archives/make-run.ts'
import { ARCHIVE_LOCK, explainForbidden } from '../api/archives/manifest-files.ts'
import { isFile, makeFolder } from '../api/archives/plain-files.ts'
import type { PruneOrder, PruneOutcome } from '../api/archives/prune.ts'
import type { Scope } from '../api/archives/scope.ts'
import { verifyArchive } from '../api/archives/verify-archive.ts'
import { SCHEMA_VERSION, openReader, type Mirror } from '../mirror/open.ts'
import { UserError } from '../model/user-error.ts'
import type { ArchiveOrder, ArchiveResult, ArchiveRunOrder } from './archive-orders.ts'
import { lockFile, type Lock } from './lock.ts'

/** How long a run waits for another program that writes to the same folder. */
const LOCK_WAIT_MS = 5000

/**
 * Makes a run, or verifies, in whatever process asks. Yields how far it is.
 * @throws UserError where the world is in the way; NodeJS.ErrnoException of the disk
 */
export async function* archiveAct(order: ArchiveOrder): AsyncGenerator<RunProgress, ArchiveResult> {
  const lock = takeArchiveLock(order.dir)
  try {
    if (order.kind === 'run') return yield* runAct(order)
    const turn = new Date().toISOString()
    return { kind: 'verify', verdict: yield* verifyArchive(order.dir, order.share, turn) }
  } catch (error) {
    throw isFull(error) ? diskFull(order.dir, error) : explainForbidden(error)
  } finally {
    lock.release()
  }
}

/** The language of searches, and a calendar with it, is loaded only where somebody asks in it. */
async function chatsIn(db: Mirror, scope: Scope, timeZone: string): Promise<readonly number[] | null> {
  const [{ readScope }, { chatsOfScope }] = await Promise.all([
    import('../api/archives/scope.ts'),
    import('../api/search/chats-of-scope.ts'),
  ])
  const clock = { timeZone, nowMs: Date.now() }
  const query = readScope(scope, clock)
  return query === null ? null : chatsOfScope(db, query, clock)
}

/** With a calendar, too. */
async function pruneBy(dir: string, order: PruneOrder, origin: string): Promise<PruneOutcome> {
  const { prune } = await import('../api/archives/prune.ts')
  return prune(dir, order, origin)
}

async function* runAct(order: ArchiveRunOrder): AsyncGenerator<RunProgress, ArchiveResult> {
  const { dir, mirrorPath, name, scope, timeZone, version } = order
  const db = openReader(mirrorPath)
  try {
    const chats = scope === null ? null : await chatsIn(db, scope, timeZone)
    const program = { name: 'cursordex', version, schema: SCHEMA_VERSION }
    const job = order.prune?.job ?? null
    const { manifest, packed, mended } = yield* makeRun(db, {
      dir,
      name,
      job,
      // What was asked for came as JSON, or from the settings, which are JSON.
      scope: scope as string | null,
      chats,
      program,
      now: Date.now,
    })
    const pruned = order.prune === null ? null : await pruneBy(dir, order.prune, manifest.origin)
    return {
      kind: 'run',
      name: manifest.name,
      packed,
      mended,
      leftOut: manifest.leftOut ?? [],
      removed: pruned?.runs ?? [],
    }
  } finally {
    db.close()
  }
}

/**
 * Whoever writes to an archive folder holds this, whichever program it is; the system frees it when the process ends.
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
  throw new UserError('archive-busy', `Another program is at work in ${dir}.`, 'Try again when it is done.')
}

const isFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')

const diskFull = (dir: string, cause: unknown): UserError =>
  new UserError('disk-full', `The disk that holds ${dir} is full; the runs before are as they were.`, 'Make room.', {
    cause,
  })
