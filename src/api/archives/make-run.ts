import { objectPath, type ChatEntry, type Manifest, runPath, type ArchivedObject } from '../../archive/archived-chat.ts'
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
  readObject,
  realFolder,
  ARCHIVE_LOCK,
  isUnfinished,
  objectAt,
  pathsBelow,
  runAt,
} from './archive-files.ts'
import { rmSync, lstatSync } from 'node:fs'
import { join, basename } from 'node:path'
import { asChatId, type ChatId } from '../../model/ids.ts'
import { isSystemLitter } from '../../model/system-litter.ts'
import { BARS_FILE } from '../../mirror/purge/bars.ts'
import type { ArchiveVerdict } from '../answers/archives.ts'

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
    const newest = new Map(runs.map(({ name, createdAt }) => [periodOf(createdAt), name]))
    return [...newest.values()].toReversed().slice(0, count)
  }
  const kept = new Set([
    ...newestOfEach(daily, (createdAt) => createdAt.slice(0, 10)),
    // The first day that is counted, 1 January 1970, was a Thursday.
    ...newestOfEach(weekly, (createdAt) => String(Math.floor((Date.parse(createdAt) / DAY_MS + 3) / 7))),
    ...newestOfEach(monthly, (createdAt) => createdAt.slice(0, 7)),
  ])
  return runs.flatMap(({ name }) => (kept.has(name) ? [] : [name]))
}

/** What a restore reads of an archive folder, which may come from another machine. */
export interface ChosenChats {
  readonly dir: string
  /** Names of the runs, newest first; at least one. */
  readonly names: readonly string[]
  /**
   * The objects of each chat, and of each mirror that archived it, the newest first. If a manifest is damaged, then also
   * every object that no other manifest names, without its id.
   */
  readonly chats: readonly ChosenChat[]
  /** What is wrong with manifests; null if nothing is. */
  readonly damage: string | null
}

export interface ChosenChat {
  /** Null if no manifest names it. */
  readonly id: ChatId | null
  /** Of the newest run with the chat. */
  readonly entry: ChatEntry | null
  readonly objects: ReadonlySet<string>
}

const WHICH_FOLDER =
  'Make one with: cursordex archive run. Or name with --from the folder that contains the folders runs and objects.'

/** @param name of one run; null for all  @throws UserError `archive-not-found`; NodeJS.ErrnoException */
export function chooseChats(given: string, name: string | null): ChosenChats {
  const dir = realFolder(given)
  const names = listRunNames(dir)
    .filter((each) => name === null || each === name)
    .toReversed()
  if (names.length === 0) {
    const text = `There is no archive in ${given}${name === null ? '' : ` of the name ${name}`}.`
    throw new UserError('archive-not-found', text, WHICH_FOLDER, { status: 404 })
  }
  const damaged: string[] = []
  const chats = new Map<string, ChosenChat & { readonly objects: Set<string> }>()
  for (const each of names) {
    const manifest = readManifest(dir, each)
    if (manifest.kind === 'damaged') damaged.push(names.length === 1 ? manifest.why : `${each}: ${manifest.why}`)
    if (manifest.kind === 'damaged') continue
    for (const entry of manifest.value.chats) {
      const { id, object } = entry
      const key = JSON.stringify([manifest.value.origin, id])
      const chat = chats.get(key) ?? { id: asChatId(id), entry, objects: new Set() }
      chats.set(key, { ...chat, objects: chat.objects.add(object) })
    }
  }
  const named = new Set([...chats.values()].flatMap(({ objects }) => [...objects]))
  const unnamed = damaged.length === 0 ? [] : listObjects(dir).filter((object) => !named.has(object))
  return {
    dir,
    names,
    chats: [...chats.values(), ...unnamed.map((object) => ({ id: null, entry: null, objects: new Set([object]) }))],
    damage: damaged.length === 0 ? null : damaged.join('; '),
  }
}

/** Null if the object is damaged, or another chat than its manifest names. @param id null if no manifest names it */
export function readChat(dir: string, object: string, id: string | null): ArchivedObject | null {
  const read = readObject(dir, object)
  return read.kind === 'sound' && (id === null || read.value.chat.id === id) ? read.value : null
}

/**
 * Reads every byte below the archive folder, and compares it with its checksum: manifests with their own, and objects
 * with their names. Follows no link. Yields progress.
 */
export function* verifyArchive(given: string): Generator<Progress, Omit<ArchiveVerdict, 'name'>> {
  const dir = realFolder(given)
  const paths = [...pathsBelow(dir)].sort()
  const objects = paths.flatMap((path) => objectAt(path) ?? [])
  const runs = paths.flatMap((path) => runAt(path) ?? [])
  const unexpected = paths.filter((path) => (objectAt(path) ?? runAt(path)) === null && !isHarmless(dir, path))
  const sound = new Set<string>()
  for (const [index, object] of objects.entries()) {
    if (whyUnsound(dir, object) === null) sound.add(object)
    yield { done: index + 1, total: objects.length }
  }
  const damaged = new Set<string>()
  const damagedRuns = new Map<string, string | null>()
  const named = new Set<string>()
  for (const name of runs) {
    const manifest = readManifest(dir, name)
    const chats = manifest.kind === 'sound' ? manifest.value.chats : []
    const wrong = chats.filter(({ object }) => !sound.has(object))
    if (manifest.kind === 'damaged') damagedRuns.set(name, manifest.why)
    else if (wrong.length > 0) damagedRuns.set(name, null)
    for (const { id } of wrong) damaged.add(id)
    for (const { object } of chats) named.add(object)
  }
  for (const object of objects) if (!sound.has(object) && !named.has(object)) unexpected.push(objectPath(object))
  return {
    ok: damaged.size === 0 && damagedRuns.size === 0 && unexpected.length === 0,
    checked: runs.length + new Set([...objects, ...named]).size,
    damaged: [...damaged],
    damagedRuns: [...damagedRuns].map(([name, why]) => ({ name, why })),
    unexpected,
  }
}

/** The lock, the bars of purges, what an interrupted run leaves, or what an operating system leaves. The lock is not opened: that would release it. */
function isHarmless(dir: string, path: string): boolean {
  const stat = lstatSync(join(dir, path))
  if (!stat.isFile()) return false
  if (path === ARCHIVE_LOCK) return stat.size === 0
  // Earlier builds wrote the bars as `user.db`.
  if (path === BARS_FILE || path === 'user.db') return true
  return isUnfinished(path) || isSystemLitter(basename(path))
}
