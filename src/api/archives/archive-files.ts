import { hash as digest } from 'node:crypto'
import { existsSync, lstatSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { createGunzip, gunzipSync } from 'node:zlib'
import {
  ObjectReader,
  decodeObject,
  type ArchivedMessage,
  type ArchivedObject,
  type ObjectLimits,
  attempt,
  Damage,
  decodeManifest,
  encodeManifest,
  isObjectHash,
  isRunName,
  objectPath,
  runPath,
  type Decoded,
  type ChatEntry,
  type Manifest,
} from '../../archive/archived-chat.ts'
import { BARS_FILE, packBars } from '../../mirror/purge/bars.ts'
import { asChatId, type ChatId } from '../../model/ids.ts'
import { isSystemLitter } from '../../model/system-litter.ts'
import type { ArchiveVerdict } from '../answers/archives.ts'
import type { Progress } from '../../model/progress.ts'
import { UserError } from '../../model/user-error.ts'
import { readRegular } from '../../regular-file.ts'

/** A process that writes to the archive holds a SQLite lock on this file. It is always empty. */
export const ARCHIVE_LOCK = '.lock'
/** The end of a file's name while it is being written. */
const UNFINISHED = '.tmp'
/** The maximum size of a file, and of the text of a chat that is read. It is about the maximum length of a JavaScript string. */
export const BYTES_MAX = 500 * 1024 * 1024
/** The maximum size of the file of a run. Older versions listed each message there, in 70 bytes. */
const MANIFEST_BYTES_MAX = 100 * 1024 * 1024
/** The maximum text of a chat that is archived. Packing it takes about four times as much memory. */
export const PACKED_BYTES_MAX = 150 * 1024 * 1024
/** A chat at the hub. Who pulls it reads it beside all other work, whoever pushed it, in at most 400 MB. */
export const HUB_LIMITS: ObjectLimits = {
  bytesMax: 64 * 1024 * 1024,
  memoryMax: 64 * 1024 * 1024,
  lineMax: 8 * 1024 * 1024,
  valuesMax: 500_000,
}

export const isFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** The folder itself may be a link, but nothing below it may be one. */
export const realFolder = (given: string): string => (existsSync(given) ? realpathSync(given) : given)

/** Relative paths, with slashes, of what is in the folders of an archive. Other folders are named and not opened. */
export function* pathsBelow(dir: string, folder = ''): Generator<string> {
  if (!isFolder(join(dir, folder))) return
  for (const entry of readdirSync(join(dir, folder), { withFileTypes: true })) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    const isOurs = entry.isDirectory() && /^(runs|objects|objects\/[0-9a-f]{2})$/.test(path)
    if (isOurs) yield* pathsBelow(dir, path)
    else yield path
  }
}

/** The hash in the path of an object; null for any other path. */
export function objectAt(path: string): string | null {
  const [, hash = ''] = /\/([0-9a-f]{64})\.jsonl\.gz$/.exec(path) ?? []
  return isObjectHash(hash) && path === objectPath(hash) ? hash : null
}

/** Hashes of all objects in the folder, whether a run names them or not. */
export const listObjects = (dir: string): readonly string[] =>
  [...pathsBelow(realFolder(dir))].flatMap((path) => objectAt(path) ?? [])

/** The name of the run in the file at this path; null for any other path. */
export function runAt(path: string): string | null {
  const [, name = ''] = /^runs\/(.*)\.json$/.exec(path) ?? []
  return isRunName(name) ? name : null
}

/** Names of the runs in the folder, oldest first. Empty if there is no folder yet. @throws UserError `archive-folder` */
export function listRunNames(dir: string): readonly string[] {
  const path = join(dir, 'runs')
  try {
    const files = existsSync(path) ? readdirSync(path) : []
    return files.flatMap((file) => runAt(`runs/${file}`) ?? []).sort()
  } catch (error) {
    throw explainDisk(error)
  }
}

/**
 * The bytes of a plain file of the archive. Pipes and devices are refused, and links, also in place of a folder above it.
 * @param path below the archive folder
 * @throws Error that says why the file cannot be read
 */
function readPlainFile(dir: string, path: string, bytesMax: number): Buffer {
  const whole = join(realpathSync(dir), path)
  if (realpathSync(whole) !== whole) throw new Damage(`${whole} is not a plain file`)
  return readRegular(whole, bytesMax)
}

/** @param name one of `listRunNames` */
export const readManifest = (dir: string, name: string): Decoded<Manifest & { readonly sha256: string }> =>
  attempt(() => decodeManifest(readPlainFile(dir, runPath(name), MANIFEST_BYTES_MAX).toString(), name))

/** An object's bytes, compared with its name. @throws Error that says what is wrong */
function readPacked(dir: string, hash: string): Buffer {
  const packed = readPlainFile(dir, objectPath(hash), BYTES_MAX)
  if (digest('sha256', packed) !== hash) throw new Damage('its bytes do not match its name')
  return packed
}

/** What is wrong with an object's bytes; null if nothing is. */
export function whyUnsound(dir: string, hash: string): string | null {
  const read = attempt(() => readPacked(dir, hash))
  return read.kind === 'damaged' ? read.why : null
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A packed chat. @throws Error that says what is wrong */
function unpackObject(packed: Buffer): ArchivedObject {
  const lines = decoder.decode(gunzipSync(packed, { maxOutputLength: BYTES_MAX })).split('\n')
  if (lines.pop() !== '') throw new Damage(CUT_OFF)
  return decodeObject(lines, {}, (message) => message)
}

const CUT_OFF = 'its last line is cut off'
/** An object of the hub is unpacked in such pieces, and a line is at most so many of them: 16 MB. */
const PIECE_BYTES = 64 * 1024
const PIECES_MAX = 256

/**
 * A packed chat of the hub, unpacked piece by piece. Whoever pushed it may have made anything of it.
 * @param take what is kept of each message
 * @throws Error that says what is wrong
 */
export async function unpackOfHub<Message extends { readonly id: string }>(
  packed: Buffer,
  take: (message: ArchivedMessage) => Message,
): Promise<ArchivedObject<Message>> {
  const reader = new ObjectReader(HUB_LIMITS, take)
  let bytes = 0
  let begun: Buffer[] = []
  for await (const given of Readable.from([packed]).pipe(createGunzip({ chunkSize: PIECE_BYTES }))) {
    const piece = given as Buffer
    bytes += piece.length
    if (bytes > HUB_LIMITS.bytesMax) throw new Damage('it unpacks to more than 64 MB')
    let start = 0
    for (let end = piece.indexOf('\n'); end >= 0; end = piece.indexOf('\n', start)) {
      reader.add(decoder.decode(Buffer.concat([...begun, piece.subarray(start, end)])))
      begun = []
      start = end + 1
    }
    if (start < piece.length) begun.push(piece.subarray(start))
    if (begun.length > PIECES_MAX) throw new Damage('a line is longer than 16 MB')
  }
  if (begun.length > 0) throw new Damage(CUT_OFF)
  return reader.end()
}

/** A whole object. Every byte is compared with its name. */
export const readObject = (dir: string, hash: string): Decoded<ArchivedObject> =>
  attempt(() => unpackObject(readPacked(dir, hash)))

/**
 * Writes a file of the archive: a temporary one, synced to the disk, and then renamed. Whoever names it elsewhere calls
 * `syncFolders` before, so that its name survives a power cut.
 * @param path below the archive folder
 * @throws NodeJS.ErrnoException, ENOSPC if the disk is full
 */
export async function writePlainFile(dir: string, path: string, content: Buffer | string): Promise<void> {
  const whole = join(dir, path)
  const beside = `${whole}${UNFINISHED}`
  await mkdir(dirname(whole), { recursive: true, mode: 0o700 })
  // An existing file is not opened: it may be a link to another place.
  await rm(beside, { force: true })
  const file = await open(beside, 'wx', 0o600)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(beside, whole)
}

/** Writes the bars of purges beside the runs, so that a lost mirror does not take them along. */
export async function writeBars(dir: string, mirrorPath: string): Promise<void> {
  const file = packBars(mirrorPath)
  if (file !== null) await writePlainFile(dir, BARS_FILE, file)
}

/** Replaces the manifest of a run that has this name already. A new run needs a free name. */
export async function writeManifest(dir: string, manifest: Manifest): Promise<void> {
  const path = runPath(manifest.name)
  await writePlainFile(dir, path, encodeManifest(manifest))
  await syncFolders(dir, [path])
}

/** A rename survives a power cut only if its folder was synced. Windows has no such call. */
export async function syncFolders(dir: string, paths: Iterable<string>): Promise<void> {
  if (process.platform === 'win32') return
  for (const path of new Set([...paths].map((each) => dirname(join(dir, each))))) {
    const folder = await open(path, 'r')
    await folder.sync().finally(() => folder.close())
  }
}

/** Removes an object, or a link in its place. A folder in its place stays: it does not belong to the archive. */
export function removeObject(dir: string, hash: string): void {
  const path = join(dir, objectPath(hash))
  if (!isFolder(path)) rmSync(path, { force: true })
}

/** Whether an interrupted run left the file at this path. No other file has such a name. */
export const isUnfinished = (path: string): boolean =>
  /^((runs|objects\/[0-9a-f]{2})\/[^/]*|bars\.json)\.tmp$/.test(path)

/** Removes the temporary files of an interrupted run. */
export function removeUnfinished(dir: string): void {
  for (const path of pathsBelow(dir)) if (isUnfinished(path)) rmSync(join(dir, path), { force: true })
}

/** An error of the disk becomes a `UserError` that says what to do. Any other error stays as it is. */
export function explainDisk(error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error && 'syscall' in error)) return error
  if (error.code === 'ENOSPC' || error.code === 'EDQUOT') {
    const text = 'The disk of the archive folder is full. Earlier archives are unchanged.'
    return new UserError('disk-full', text, 'Free some space.', { cause: error })
  }
  const place = 'path' in error ? String(error.path) : 'The archive folder'
  const hint =
    'Make it readable and writable for the user who runs this, or choose another folder by archives.dir. A restore with --from only reads.'
  return new UserError('archive-folder', `${place} cannot be read or written (${String(error.code)}).`, hint, {
    cause: error,
  })
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
