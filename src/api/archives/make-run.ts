import { objectPath, type ChatEntry, type Manifest, runPath } from '../../archive/archived-chat.ts'
import type { Mirror } from '../../mirror/open.ts'
import { SCHEMA_VERSION } from '../../mirror/schema.ts'
import { UserError } from '../../model/user-error.ts'
import type { Progress } from '../../model/progress.ts'
import { listArchivable, packChat, readIdentity } from '../queries/archived-chat.ts'
import { chatsOfScope } from '../search/find-all.ts'
import {
  listRunNames,
  readManifest,
  removeUnfinished,
  syncFolders,
  whyUnsound,
  writeManifest,
  writePlainFile,
  listObjects,
  removeObject,
} from './archive-files.ts'
import { rmSync } from 'node:fs'
import { join } from 'node:path'

export interface RunOrder {
  /** The archive folder. */
  readonly dir: string
  readonly name: string
  /** A search; null for everything. */
  readonly scope: string | null
  /** The IANA time zone of dates in the scope. */
  readonly timeZone: string
  /** The version of this program. */
  readonly version: string
  /** Which runs to remove afterwards. Null for a run that a person asked for. */
  readonly prune: PruneOrder | null
}

export interface RunOutcome {
  /** How many chats had changed. */
  readonly packed: number
  /** Chats whose current state could not be archived. */
  readonly leftOut: NonNullable<Manifest['leftOut']>
}

/** So many files are synced to the disk in the time of one. */
const WRITING_MAX = 32
/** Progress is reported after this many chats. */
const STEP = 100

/**
 * Archives the chats that changed since the last run of the same mirror, and reads back every object that the run names.
 * The manifest is written last: a run without a manifest does not exist. A chat that cannot be archived is named in the
 * manifest and stays as it was archived before. Runs in one folder must not overlap; the caller holds the lock. Yields
 * progress.
 * @throws UserError `archive-busy` if another mirror took the name, `archive-unproven` if the disk returns something else
 *   than was written; NodeJS.ErrnoException of the disk
 */
export async function* makeRun(db: Mirror, order: RunOrder): AsyncGenerator<Progress, RunOutcome> {
  const { dir, name, scope, version } = order
  const createdAt = new Date().toISOString()
  const origin = readIdentity(db)
  const names = listRunNames(dir)
  if (names.includes(name)) {
    throw new UserError('archive-busy', `Another program just made the archive ${name} in ${dir}.`, 'Try again.', {
      status: 429,
    })
  }
  removeUnfinished(dir)
  const former = formerEntries(dir, names, origin)
  const clock = { timeZone: order.timeZone, nowMs: Date.now() }
  const all = listArchivable(db, scope === null ? null : chatsOfScope(db, scope, clock))
  const chats: ChatEntry[] = []
  const leftOut: { readonly id: string; readonly why: string }[] = []
  const written: ChatEntry[] = []
  const writing: Promise<void>[] = []
  for (const [index, { num, id, revision, isListed }] of all.entries()) {
    if (index % STEP === 0) yield { done: index, total: all.length }
    const held = former.get(id)
    const isSound = held !== undefined && whyUnsound(dir, held.object) === null
    const isHeld = isSound && held.revision === revision
    const read = isHeld ? null : packChat(db, num, origin)
    // An archive of version 1 does not say whether it is listed.
    if (isHeld || (isSound && read?.kind === 'damaged')) chats.push({ ...held, isListed: isListed === 1 })
    if (read?.kind === 'damaged') leftOut.push({ id, why: read.why })
    if (read?.kind !== 'sound') continue
    const { object, packed, messages } = read.value
    const entry = { id, object, bytes: packed.length, revision, messages, isListed: isListed === 1 }
    chats.push(entry)
    written.push(entry)
    writing.push(writePlainFile(dir, objectPath(object), packed))
    if (writing.length >= WRITING_MAX) await Promise.all(writing.splice(0))
  }
  await Promise.all(writing)
  const paths = written.map(({ object }) => objectPath(object))
  await syncFolders(dir, paths)
  for (const entry of written) requireWritten(dir, entry)
  const times = { createdAt, provenAt: new Date().toISOString() }
  const program = { name: 'cursordex', version, schema: SCHEMA_VERSION }
  const job = order.prune?.job ?? null
  await writeManifest(dir, {
    name,
    ...times,
    job,
    scope,
    program,
    origin,
    ...(leftOut.length > 0 && { leftOut }),
    chats,
  })
  yield { done: all.length, total: all.length }
  await prune(dir, order.prune, origin)
  return { packed: written.length, leftOut }
}

/**
 * The newest entry of each chat in the runs of this mirror, back to the last full run. Revisions of another mirror mean
 * nothing here.
 * @param names oldest first
 */
function formerEntries(dir: string, names: readonly string[], origin: string): ReadonlyMap<string, ChatEntry> {
  const entries = new Map<string, ChatEntry>()
  for (const name of names.toReversed()) {
    const read = readManifest(dir, name)
    if (read.kind === 'damaged' || read.value.origin !== origin) continue
    for (const entry of read.value.chats) if (!entries.has(entry.id)) entries.set(entry.id, entry)
    if (read.value.scope === null) break
  }
  return entries
}

/** @throws UserError `archive-unproven` if the disk returns something else than was written */
export function requireWritten(dir: string, { id, object }: Pick<ChatEntry, 'id' | 'object'>): void {
  const why = whyUnsound(dir, object)
  if (why === null) return
  const text = `The archived chat ${id} cannot be read back as it was written: ${why}.`
  throw new UserError('archive-unproven', text, `Check the disk of ${dir}. Earlier archives are unchanged.`)
}

export interface PruneOrder {
  /** Only runs of this job are removed, never a run that a person asked for. */
  readonly job: string
  /** How many runs of the job stay: the newest of each of the last days, weeks and months that have a run. */
  readonly keep: { readonly daily: number; readonly weekly: number; readonly monthly: number }
}

/**
 * Removes the runs of a job that are not kept, and then the objects that no run names: those of removed runs, and what a
 * killed run left. Must not overlap with a run, so the caller holds the folder's lock. If all counts are 0, all runs stay.
 * The newest run always stays.
 * @param order null if no run is removed
 * @param origin the mirror. Runs of other mirrors stay: a job of another mirror may have the same name.
 */
export async function prune(dir: string, order: PruneOrder | null, origin: string): Promise<void> {
  const removed = order === null ? [] : runsToRemove(dir, order, origin)
  const paths = removed.map((name) => runPath(name))
  for (const path of paths) rmSync(join(dir, path))
  // The removal of the runs must be on the disk first: a run that came back after a power cut would lack its objects.
  await syncFolders(dir, paths)
  const named = new Set<string>()
  for (const name of listRunNames(dir)) {
    const run = readManifest(dir, name)
    // What the objects of a damaged run are is unknown, so none is removed.
    if (run.kind === 'damaged') return
    for (const { object } of run.value.chats) named.add(object)
  }
  for (const hash of listObjects(dir)) if (!named.has(hash)) removeObject(dir, hash)
}

const DAY_MS = 86_400_000

/**
 * One run after the other is read, because all of them may be larger than the memory. Days, months, and weeks, which start on
 * Monday, are those of UTC.
 */
function runsToRemove(dir: string, { job, keep }: PruneOrder, origin: string): readonly string[] {
  const { daily, weekly, monthly } = keep
  if (daily + weekly + monthly === 0) return []
  const runs = listRunNames(dir).flatMap((name) => {
    const run = readManifest(dir, name)
    if (run.kind === 'damaged' || run.value.job !== job || run.value.origin !== origin) return []
    return [{ name, createdAt: run.value.createdAt }]
  })
  const newestOfEach = (count: number, periodOf: (createdAt: string) => string): readonly string[] => {
    const newest = new Map<string, string>()
    for (const { name, createdAt } of runs.toReversed()) {
      const period = periodOf(createdAt)
      if (!newest.has(period)) newest.set(period, name)
    }
    return [...newest.values()].slice(0, count)
  }
  const kept = new Set([
    ...newestOfEach(daily, (createdAt) => createdAt.slice(0, 10)),
    // The first day that is counted, 1 January 1970, was a Thursday.
    ...newestOfEach(weekly, (createdAt) => String(Math.floor((Date.parse(createdAt) / DAY_MS + 3) / 7))),
    ...newestOfEach(monthly, (createdAt) => createdAt.slice(0, 7)),
  ])
  return runs.flatMap(({ name }) => (kept.has(name) ? [] : [name]))
}
