import {
  isNewer,
  MANIFEST_FORMAT,
  MANIFEST_VERSION,
  type ChatEntry,
  type LeftOutChat,
  type Manifest,
} from '../../archive/manifest.ts'
import { objectPath, runName } from '../../archive/names.ts'
import type { Mirror } from '../../mirror/open.ts'
import { UserError } from '../../model/user-error.ts'
import type { Progress } from '../http/schemas/archives.ts'
import { listArchivable, readIdentity } from '../queries/archived/archived-chat.ts'
import { FILE_BYTES_MAX, removeUnfinished, syncFolders, writePlainFile } from './archive-files.ts'
import { listRunNames, readManifest, writeManifest } from './manifest-files.ts'
import { packObject, type PackedObject } from './pack-object.ts'
import { whyUnsound } from './prove-object.ts'

export interface RunOrder {
  /** The archive folder. */
  readonly dir: string
  readonly name: string
  readonly job: string | null
  /** As it was asked for. The manifest contains it. */
  readonly scope: Manifest['scope']
  /** Row numbers of the chats in the scope. Null: all chats. */
  readonly chats: readonly number[] | null
  readonly program: Manifest['program']
  /** Epoch milliseconds. */
  now(): number
}

export interface RunOutcome {
  readonly manifest: Manifest
  /** Number of chats that were packed. The others had not changed. */
  readonly packed: number
  /** Ids of chats whose object from an earlier run was damaged and is now replaced. */
  readonly mended: readonly string[]
}

/** Chats are written in batches of this size: many files are synced to the disk in the time of one. */
const WAITING_BYTES_MAX = 8 * 1024 * 1024
const WAITING_MAX = 128
/** Progress is reported after this many chats. */
const STEP = 100

interface Waiting {
  readonly entry: ChatEntry
  readonly object: PackedObject
}

/**
 * Archives the chats that changed since the last run of the same mirror, and reads back every object that the run names.
 * The manifest is written last: a run without a manifest does not exist. A chat that cannot be archived is named in the
 * manifest and stays as it was archived before. Runs in one folder must not overlap; the caller holds the lock. Yields
 * progress.
 * @throws UserError `archive-busy` if another mirror took the name, `archive-unproven` if the disk returns something else
 *   than was written; NodeJS.ErrnoException of the disk
 */
export async function* makeRun(db: Mirror, order: RunOrder): AsyncGenerator<Progress, RunOutcome> {
  const { dir } = order
  const createdAtMs = order.now()
  const origin = readIdentity(db)
  const names = listRunNames(dir)
  if (names.includes(order.name)) {
    throw new UserError('archive-busy', `Another program just made the archive ${order.name} in ${dir}.`, 'Try again.')
  }
  removeUnfinished(dir)
  const former = formerEntries(dir, names, origin)
  const chats = listArchivable(db, order.chats)
  const entries: ChatEntry[] = []
  const mended: string[] = []
  const leftOut: LeftOutChat[] = []
  const written: string[] = []
  let waiting: Waiting[] = []
  for (const [index, { num, id, revision }] of chats.entries()) {
    if (index % STEP === 0) yield { done: index, total: chats.length }
    const held = former.get(id)
    const isHeld = held !== undefined && held.revision === revision
    if (isHeld && whyUnsound(dir, held) === null) {
      entries.push(held)
      continue
    }
    const packed = packObject(db, num, origin)
    if (packed === null) continue
    const why = packed.kind === 'damaged' ? packed.why : whyTooLong(packed.value)
    if (why !== null || packed.kind === 'damaged') {
      if (held !== undefined && whyUnsound(dir, held) === null) entries.push(held)
      leftOut.push({ id, why: why ?? '' })
      continue
    }
    const { hash: object, content, bytes, messages } = packed.value
    const entry = { id, object, content, bytes, revision, messages: [...messages] }
    entries.push(entry)
    if (isHeld) mended.push(id)
    waiting.push({ entry, object: packed.value })
    written.push(objectPath(object))
    if (waiting.length < WAITING_MAX && sum(waiting.map((each) => each.object.bytes)) < WAITING_BYTES_MAX) continue
    await writeAndProve(dir, waiting)
    waiting = []
  }
  await writeAndProve(dir, waiting)
  await syncFolders(dir, written)
  const unlisted = new Set(chats.flatMap(({ id, isListed }) => (isListed === 1 ? [] : [id])))
  const manifest: Manifest = {
    format: MANIFEST_FORMAT,
    version: MANIFEST_VERSION,
    name: order.name,
    createdAt: new Date(createdAtMs).toISOString(),
    provenAt: new Date(order.now()).toISOString(),
    job: order.job,
    scope: order.scope,
    program: order.program,
    origin,
    ...sumsOf(entries, ({ id }) => unlisted.has(id)),
    ...(leftOut.length === 0 ? {} : { leftOut }),
    chats: entries,
  }
  await writeManifest(dir, manifest)
  yield { done: chats.length, total: chats.length }
  return { manifest, packed: written.length, mended }
}

/** The sums of a manifest over its chats. */
export const sumsOf = (entries: readonly ChatEntry[], isUnlisted: (entry: ChatEntry) => boolean) => ({
  chatCount: entries.length,
  unlistedCount: entries.filter(isUnlisted).length,
  messageCount: sum(entries.map(({ messages }) => messages.length)),
  bytes: sum([...new Map(entries.map(({ object, bytes }) => [object, bytes])).values()]),
})

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

/** The name of a run that begins now. @param taken names that are in use without a file */
export const nameRun = (dir: string, atMs: number, job: string | null, taken: Iterable<string> = []): string =>
  runName(atMs, job ?? 'manual', new Set([...listRunNames(dir), ...taken]))

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
    for (const entry of read.value.chats) {
      const rival = entries.get(entry.id)
      if (rival === undefined || isNewer(entry.revision, rival.revision)) entries.set(entry.id, entry)
    }
    if (read.value.scope === null) break
  }
  return entries
}

const whyTooLong = ({ bytes }: PackedObject): string | null =>
  bytes > FILE_BYTES_MAX ? `it is ${bytes} bytes long, packed` : null

async function writeAndProve(dir: string, waiting: readonly Waiting[]): Promise<void> {
  await Promise.all(waiting.map(({ object }) => writeObject(dir, object)))
  for (const { entry } of waiting) requireWritten(dir, entry)
}

/** The caller must also call `syncFolders`. */
export const writeObject = (dir: string, { hash, members }: PackedObject): Promise<void> =>
  writePlainFile(dir, objectPath(hash), members)

/** @throws UserError `archive-unproven` if the disk returns something else than was written */
export function requireWritten(dir: string, entry: Pick<ChatEntry, 'id' | 'object' | 'bytes'>): void {
  const why = whyUnsound(dir, entry)
  if (why === null) return
  const text = `The archived chat ${entry.id} cannot be read back as it was written: ${why}.`
  throw new UserError('archive-unproven', text, `Check the disk of ${dir}. Earlier archives are unchanged.`)
}
