import { objectPath, type ChatEntry, type Manifest } from '../../archive/manifest.ts'
import type { Mirror } from '../../mirror/open.ts'
import { UserError } from '../../model/user-error.ts'
import type { Progress } from '../http/schemas/archives.ts'
import { listArchivable, packChat, readIdentity } from '../queries/archived-chat.ts'
import {
  listRunNames,
  readManifest,
  removeUnfinished,
  syncFolders,
  whyUnsound,
  writeManifest,
  writePlainFile,
} from './archive-files.ts'

export interface RunOrder extends Pick<Manifest, 'name' | 'job' | 'scope' | 'program'> {
  /** The archive folder. */
  readonly dir: string
  /** Row numbers of the chats in the scope. Null: all chats. */
  readonly chats: readonly number[] | null
  /** Epoch milliseconds. */
  readonly now: () => number
}

export interface RunOutcome {
  readonly manifest: Manifest
  /** Number of chats that were packed. The others had not changed. */
  readonly packed: number
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
  const { dir, chats: wanted, now, ...head } = order
  const createdAt = new Date(now()).toISOString()
  const origin = readIdentity(db)
  const names = listRunNames(dir)
  if (names.includes(order.name)) {
    throw new UserError('archive-busy', `Another program just made the archive ${order.name} in ${dir}.`, 'Try again.')
  }
  removeUnfinished(dir)
  const former = formerEntries(dir, names, origin)
  const all = listArchivable(db, wanted)
  const chats: ChatEntry[] = []
  const leftOut: NonNullable<Manifest['leftOut']> = []
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
  const provenAt = new Date(now()).toISOString()
  const manifest = { ...head, createdAt, provenAt, origin, ...(leftOut.length > 0 && { leftOut }), chats }
  await writeManifest(dir, manifest)
  yield { done: all.length, total: all.length }
  return { manifest, packed: written.length }
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
