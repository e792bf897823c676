import type { Progress } from '../../api/http/schemas/archives.ts'
import { makeRun } from '../../api/archives/make-run.ts'
import { explainForbidden } from '../../api/archives/manifest-files.ts'
import type { PruneOrder, PruneOutcome } from '../../api/archives/prune.ts'
import type { Scope } from '../../api/archives/scope.ts'
import { verifyArchive, type Verdict } from '../../api/archives/verify-archive.ts'
import { SCHEMA_VERSION, type Mirror } from '../../mirror/open.ts'
import { UserError } from '../../model/user-error.ts'
import { takeArchiveLock } from '../archives/archive-lock.ts'
import type { Job, JobContext } from './job.ts'
import type { ArchiveRun } from '../../api/http/schemas/archives.ts'

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
  /** Chats that were damaged in the archive and were archived again. */
  readonly mended: readonly string[]
  /** Chats whose current state could not be archived. */
  readonly leftOut: ArchiveRun['leftOut']
  /** Names of the runs that were removed. */
  readonly removed: readonly string[]
}

export interface VerifyInput {
  readonly dir: string
  /** Which part of the objects to read, 0 to 1. */
  readonly share: number
}

export type VerifyResult = Verdict

/** Makes a run of the archive. @throws UserError `archive-busy`, `archive-folder`, `disk-full`; ErrnoException of the disk */
export const archiveJob: Job<ArchiveInput, ArchiveResult> = (input, context) =>
  inFolder(input.dir, () => makeArchive(input, context))

/** Reads the archive back and compares it with its manifests. @throws UserError as `archiveJob` does */
export const verifyJob: Job<VerifyInput, VerifyResult> = ({ dir, share }) =>
  inFolder(dir, () => verifyArchive(dir, share, new Date().toISOString()))

/** Holds the folder's lock while it works. */
async function* inFolder<Result>(
  dir: string,
  work: () => Generator<Progress, Result> | AsyncGenerator<Progress, Result>,
): AsyncGenerator<Progress, Result> {
  const lock = takeArchiveLock(dir)
  try {
    return yield* work()
  } catch (error) {
    throw isDiskFull(error) ? diskFull(dir, error) : explainForbidden(error)
  } finally {
    lock.release()
  }
}

async function* makeArchive(
  { dir, name, scope, timeZone, version, prune }: ArchiveInput,
  context: JobContext,
): AsyncGenerator<Progress, ArchiveResult> {
  const db = context.mirror()
  const { manifest, packed, mended } = yield* makeRun(db, {
    dir,
    name,
    job: prune?.job ?? null,
    // A scope is JSON: it came in a request or from the settings.
    scope: scope as string | null,
    chats: scope === null ? null : await chatsIn(db, scope, timeZone),
    program: { name: 'cursordex', version, schema: SCHEMA_VERSION },
    now: Date.now,
  })
  const pruned = prune === null ? null : await pruneRuns(dir, prune, manifest.origin)
  return {
    name: manifest.name,
    packed,
    mended,
    leftOut: manifest.leftOut ?? [],
    removed: pruned?.runs ?? [],
  }
}

/** Loads the query language and its date library only if the scope is a query. */
async function chatsIn(db: Mirror, scope: Scope, timeZone: string): Promise<readonly number[] | null> {
  const [{ readScope }, { chatsOfScope }] = await Promise.all([
    import('../../api/archives/scope.ts'),
    import('../../api/search/chats-of-scope.ts'),
  ])
  const clock = { timeZone, nowMs: Date.now() }
  const query = readScope(scope, clock)
  return query === null ? null : chatsOfScope(db, query, clock)
}

/** Loads the date library only if runs are pruned. */
async function pruneRuns(dir: string, order: PruneOrder, origin: string): Promise<PruneOutcome> {
  const { prune } = await import('../../api/archives/prune.ts')
  return prune(dir, order, origin)
}

const isDiskFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')

const diskFull = (dir: string, cause: unknown): UserError =>
  new UserError(
    'disk-full',
    `The disk that holds ${dir} is full. Earlier archives are unchanged.`,
    'Free some space.',
    {
      cause,
    },
  )
