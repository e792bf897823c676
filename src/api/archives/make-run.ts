import { createHash } from 'node:crypto'
import { join } from 'node:path'
import {
  isNewer,
  MANIFEST_FORMAT,
  MANIFEST_VERSION,
  type ChatEntry,
  type LeftOutChat,
  type Manifest,
} from '../../archive/manifest.ts'
import type { Progress } from '../http/schemas/archives.ts'
import { objectPath } from '../../archive/names.ts'
import type { Mirror } from '../../mirror/open.ts'
import { UserError } from '../../model/user-error.ts'
import { listArchivable, readIdentity, type ArchivableChat } from '../queries/archived/archived-chat.ts'
import { inSnapshot } from '../queries/snapshot.ts'
import { listRunNames, readManifest, writeManifest } from './manifest-files.ts'
import { removeUnfinished, syncFolders, TEXT_BYTES_MAX, writeObjects } from './object-files.ts'
import { chatLines, heldBy, layOutChat, packRest, type LaidOut, type PackedObject } from './pack-object.ts'
import { plainFileSize } from './plain-files.ts'
import { isProvenAgain, proveObject, proveWritten } from './prove-object.ts'

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

/** Chats are packed, written and checked in batches of this size. */
const WAITING_BYTES_MAX = 8 * 1024 * 1024
const WAITING_MAX = 128
/** zlib needs 256 KB for each chat that is being packed. */
const PACKED_AT_ONCE = 4
/** Of the objects of earlier runs, one in 30 is read again. */
const SHARE = 30
/** Progress is reported after this many unchanged chats. */
const UNCHANGED_MAX = 1000

/**
 * Archives the chats that changed since the last run of the same mirror. It compares all that it wrote, and a thirtieth
 * of the rest, with the mirror. The manifest is written last: a run without a manifest does not exist. A chat that cannot
 * be archived is named in the manifest and stays as it was archived before. Temporary files of an interrupted run are
 * removed. Runs in one folder must not overlap; the caller holds the lock. Yields progress.
 * @throws UserError `archive-busy` if another mirror took the name, `archive-unproven` if the disk returns something else
 *   than was written; NodeJS.ErrnoException of the disk
 */
export async function* makeRun(db: Mirror, order: RunOrder): AsyncGenerator<Progress, RunOutcome> {
  const createdAtMs = order.now()
  const origin = readIdentity(db)
  const names = listRunNames(order.dir)
  if (names.includes(order.name)) throw nameTaken(order)
  removeUnfinished(order.dir)
  const former = formerEntries(order.dir, names, origin)
  const chats = listArchivable(db, order.chats)
  const unlisted = new Set(chats.flatMap(({ id, isListed }) => (isListed === 1 ? [] : [id])))
  const empty = { entries: [], mended: [], leftOut: [], folders: new Set<string>(), packed: 0, waiting: [] }
  const made: Made = { db, order, origin, former, unlisted, ...empty }
  for (const [index, chat] of chats.entries()) {
    take(made, chat)
    if (isFull(made.waiting)) await writeAndProve(made)
    else if (index % UNCHANGED_MAX !== 0) continue
    yield { done: index + 1, total: chats.length }
  }
  await writeAndProve(made)
  await syncFolders(made.folders)
  const manifest = manifestOf(made, createdAtMs)
  await writeManifest(order.dir, manifest)
  yield { done: chats.length, total: chats.length }
  return { manifest, packed: made.packed, mended: made.mended }
}

interface Waiting {
  readonly chat: ArchivableChat
  readonly laidOut: LaidOut
}

/** The state of a run in progress. */
interface Made {
  readonly db: Mirror
  readonly order: RunOrder
  readonly origin: string
  /** The entries of earlier runs, by chat id. */
  readonly former: ReadonlyMap<string, ChatEntry>
  /** Ids of subagents, drafts and empty chats. */
  readonly unlisted: ReadonlySet<string>
  readonly entries: ChatEntry[]
  readonly mended: string[]
  readonly leftOut: LeftOutChat[]
  /** The folders in which objects were written. */
  readonly folders: Set<string>
  packed: number
  waiting: Waiting[]
}

function take(made: Made, chat: ArchivableChat): void {
  const { db, order, origin, former, entries, mended, waiting } = made
  const held = former.get(chat.id)
  const isHeld = held !== undefined && held.revision === chat.revision
  if (isHeld && hasObject(order.dir, held) && isProven(db, order, chat, held, origin)) {
    entries.push(held)
    return
  }
  const laidOut = layOutChat(db, chat.num, origin)
  if (laidOut === null) return
  if (laidOut.kind === 'damaged') return leaveOut(made, chat.id, laidOut.why)
  waiting.push({ chat, laidOut: laidOut.value })
  if (isHeld) mended.push(chat.id)
}

/** Names a chat that cannot be archived. Its state in an earlier run stays. */
function leaveOut({ order, former, entries, leftOut }: Made, id: string, why: string): void {
  const held = former.get(id)
  if (held !== undefined && proveObject(order.dir, held).kind === 'sound') entries.push(held)
  leftOut.push({ id, why })
}

const isFull = (waiting: readonly Waiting[]): boolean =>
  waiting.length >= WAITING_MAX || sum(waiting.map(({ laidOut }) => heldBy(laidOut))) >= WAITING_BYTES_MAX

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

/** An object behind a link does not count: a restore would not read it. */
const hasObject = (dir: string, { object, bytes }: ChatEntry): boolean =>
  plainFileSize(dir, join(dir, objectPath(object))) === bytes

/** Whether an object of an earlier run is unchanged. Only a thirtieth of the objects is read; the others count as unchanged. */
function isProven(db: Mirror, { dir, name }: RunOrder, chat: ArchivableChat, held: ChatEntry, origin: string): boolean {
  const turn = createHash('sha256').update(`${name} ${held.object}`).digest().readUInt32BE()
  if (turn % SHARE !== 0) return true
  return inSnapshot(db, () => isProvenAgain(dir, held, linesNow(db, chat, origin)))
}

/** Null if the chat has changed since its revision was read. */
function linesNow(db: Mirror, { num, revision }: ArchivableChat, origin: string): Iterable<string> | null {
  const [now] = listArchivable(db, [num])
  return now?.revision === revision ? chatLines(db, num, origin) : null
}

interface Packed {
  readonly chat: ArchivableChat
  readonly object: PackedObject
}

/** Packs a few chats at a time. The order stays that of the manifest. */
async function packAll(waiting: readonly Waiting[]): Promise<readonly Packed[]> {
  const packed: Packed[] = []
  const turns = waiting.entries()
  const packInTurn = async (): Promise<void> => {
    for (const [at, { chat, laidOut }] of turns) packed[at] = { chat, object: await packRest(laidOut) }
  }
  await Promise.all(Array.from({ length: PACKED_AT_ONCE }, packInTurn))
  return packed
}

async function writeAndProve(made: Made): Promise<void> {
  const { order, folders, waiting } = made
  const packed = await packAll(waiting)
  const written = packed.filter(({ object }) => object.bytes <= TEXT_BYTES_MAX)
  const objects = written.map(({ object }) => object)
  for (const folder of await writeObjects(order.dir, objects)) folders.add(folder)
  for (const { chat, object } of written) prove(made, chat, object)
  for (const { chat, object } of packed) {
    if (object.bytes > TEXT_BYTES_MAX) leaveOut(made, chat.id, `it is ${object.bytes} bytes long, packed`)
  }
  made.packed += written.length
  made.waiting = []
}

function prove(made: Made, chat: ArchivableChat, { hash, content, bytes, messages }: PackedObject): void {
  const { db, order, origin, entries } = made
  const entry = { id: chat.id, object: hash, content, bytes, revision: chat.revision, messages: [...messages] }
  const proof = inSnapshot(db, () => proveWritten(order.dir, entry, linesNow(db, chat, origin)))
  if (proof === 'damaged') throw unproven(chat.id, order.dir)
  if (proof === 'sound') entries.push(entry)
  else leaveOut(made, chat.id, 'it changed in the mirror each time')
}

const nameTaken = ({ dir, name }: RunOrder): UserError =>
  new UserError('archive-busy', `Another program just made the archive ${name} in ${dir}.`, 'Try again.')

const unproven = (id: string, dir: string): UserError =>
  new UserError(
    'archive-unproven',
    `The archived chat ${id} was read back with other content.`,
    `Check the disk of ${dir}. Earlier runs are unchanged.`,
  )

function manifestOf({ order, origin, entries: chats, unlisted, leftOut }: Made, createdAtMs: number): Manifest {
  const { name, job, scope, program } = order
  return {
    format: MANIFEST_FORMAT,
    version: MANIFEST_VERSION,
    name,
    createdAt: new Date(createdAtMs).toISOString(),
    provenAt: new Date(order.now()).toISOString(),
    job,
    scope,
    program,
    origin,
    chatCount: chats.length,
    unlistedCount: chats.filter(({ id }) => unlisted.has(id)).length,
    messageCount: sum(chats.map((entry) => entry.messages.length)),
    bytes: sum([...new Map(chats.map((entry) => [entry.object, entry.bytes])).values()]),
    ...(leftOut.length === 0 ? {} : { leftOut }),
    chats: [...chats],
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
