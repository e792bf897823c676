import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { MANIFEST_FORMAT, MANIFEST_VERSION, type ChatEntry, type Manifest } from '../../archive/manifest.ts'
import { objectPath, runName } from '../../archive/names.ts'
import type { Mirror } from '../../mirror/open.ts'
import { Trouble } from '../../model/trouble.ts'
import { listArchivable, readIdentity, type ArchivableChat } from '../queries/archivable-chats.ts'
import { inSnapshot } from '../queries/snapshot.ts'
import { listRunNames, readManifest, writeManifest } from './manifest-files.ts'
import { writeObjects, type PackedObject } from './object-files.ts'
import { chatLines, packChat } from './pack-chat.ts'
import { proveObject } from './prove-object.ts'

export interface RunOrder {
  /** The archive folder. */
  readonly dir: string
  readonly name: string
  readonly job: string | null
  /** As it was asked for; it stands in the manifest. */
  readonly scope: Manifest['scope']
  /** Row numbers of the chats that the scope holds; all where null. */
  readonly chats: readonly number[] | null
  readonly program: Manifest['program']
  /** Epoch milliseconds. */
  now(): number
}

export interface RunProgress {
  readonly done: number
  readonly total: number
}

export interface RunOutcome {
  readonly manifest: Manifest
  /** Chats that were packed anew; the others had not changed. */
  readonly packed: number
  /** Ids of chats whose object of an earlier run was damaged, and is whole again. */
  readonly mended: readonly string[]
}

/** So much is packed before it is written, and proven, at once. */
const WAITING_BYTES_MAX = 8 * 1024 * 1024
const WAITING_MAX = 64
/** One in so many of the objects that were there already is read again. */
const SHARE = 30

/**
 * Archives the chats that changed since the last run of the same mirror, proves what it wrote and a thirtieth of the
 * rest against the mirror, and then writes the manifest: before that there is no run. Yields as it goes.
 * @throws Trouble `archive-unproven` where what was written is not what is read; NodeJS.ErrnoException of the disk
 */
export async function* makeRun(db: Mirror, order: RunOrder): AsyncGenerator<RunProgress, RunOutcome> {
  const createdAtMs = order.now()
  const origin = readIdentity(db)
  const former = formerEntries(order.dir, origin)
  const chats = listArchivable(db, order.chats)
  const entries: ChatEntry[] = []
  const mended: string[] = []
  let packed = 0
  let waiting: Waiting[] = []
  for (const [index, chat] of chats.entries()) {
    const held = former.get(chat.id)
    const isHeld = held !== undefined && held.revision === chat.revision && hasObject(order.dir, held)
    if (isHeld && isProven(db, order, chat, held, origin)) entries.push(held)
    else {
      const object = packChat(db, chat.num, origin)
      if (object !== null) waiting.push({ chat, object })
      if (object !== null && isHeld) mended.push(chat.id)
    }
    if (isFull(waiting) || index === chats.length - 1) {
      entries.push(...(await writeAndProve(db, order.dir, waiting, origin)))
      packed += waiting.length
      waiting = []
      yield { done: index + 1, total: chats.length }
    }
  }
  const manifest = manifestOf(order, origin, entries, createdAtMs)
  await writeManifest(order.dir, manifest)
  return { manifest, packed, mended }
}

interface Waiting {
  readonly chat: ArchivableChat
  readonly object: PackedObject
}

const isFull = (waiting: readonly Waiting[]): boolean =>
  waiting.length >= WAITING_MAX || sum(waiting.map(({ object }) => object.bytes)) >= WAITING_BYTES_MAX

/** What the newest sound run of this mirror says of each chat. */
function formerEntries(dir: string, origin: string): ReadonlyMap<string, ChatEntry> {
  const entries = new Map<string, ChatEntry>()
  for (const name of listRunNames(dir).toReversed()) {
    const read = readManifest(dir, name)
    if (read.kind === 'damaged' || read.value.origin !== origin) continue
    for (const entry of read.value.chats) if (!entries.has(entry.id)) entries.set(entry.id, entry)
    if (read.value.scope === null) break
  }
  return entries
}

function hasObject(dir: string, { object, bytes }: ChatEntry): boolean {
  return statSync(join(dir, objectPath(object)), { throwIfNoEntry: false })?.size === bytes
}

/** Whether an object that is there already is what it was, for those whose turn it is. */
function isProven(db: Mirror, { dir, name }: RunOrder, chat: ArchivableChat, held: ChatEntry, origin: string): boolean {
  const turn = createHash('sha256').update(`${name} ${held.object}`).digest().readUInt32BE()
  if (turn % SHARE !== 0) return true
  return inSnapshot(db, () => proveObject(dir, held, linesNow(db, chat, origin)).kind === 'sound')
}

/** Null where the chat has changed since its revision was read. */
function linesNow(db: Mirror, { num, revision }: ArchivableChat, origin: string): Iterable<string> | null {
  const [now] = listArchivable(db, [num])
  return now?.revision === revision ? chatLines(db, num, origin) : null
}

async function writeAndProve(
  db: Mirror,
  dir: string,
  waiting: readonly Waiting[],
  origin: string,
): Promise<readonly ChatEntry[]> {
  await writeObjects(
    dir,
    waiting.map(({ object }) => object),
  )
  return waiting.map(({ chat, object }) => {
    const { hash, content, bytes, messages } = object
    const entry = { id: chat.id, object: hash, content, bytes, revision: chat.revision, messages: [...messages] }
    const proof = inSnapshot(db, () => proveObject(dir, entry, linesNow(db, chat, origin)))
    if (proof.kind === 'sound') return entry
    const text = `What was archived of the chat ${chat.id} is not what is read back: ${proof.why}.`
    throw new Trouble('archive-unproven', text, `Look at the disk that holds ${dir}; the run before is as it was.`)
  })
}

function manifestOf(order: RunOrder, origin: string, chats: readonly ChatEntry[], createdAtMs: number): Manifest {
  const { name, job, scope, program, now } = order
  return {
    format: MANIFEST_FORMAT,
    version: MANIFEST_VERSION,
    name,
    createdAt: new Date(createdAtMs).toISOString(),
    provenAt: new Date(now()).toISOString(),
    job,
    scope,
    program,
    origin,
    chatCount: chats.length,
    messageCount: sum(chats.map((entry) => entry.messages.length)),
    bytes: sum([...new Map(chats.map((entry) => [entry.object, entry.bytes])).values()]),
    chats: [...chats],
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

/** The name of a run that begins now. */
export const nameRun = (dir: string, atMs: number, job: string | null): string =>
  runName(atMs, job ?? 'manual', new Set(listRunNames(dir)))
