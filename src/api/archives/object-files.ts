import { isUtf8 } from 'node:buffer'
import { hash as digest } from 'node:crypto'
import { closeSync, fsync, openSync, readdirSync, renameSync, rmSync, unlinkSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { constants, gunzipSync } from 'node:zlib'
import type { Decoded } from '../../archive/chat-file.ts'
import { objectPath } from '../../archive/names.ts'
import type { PackedObject } from './pack-object.ts'
import { isFolder, makeFolder, readPlainFile, requireNoFolder, saysWhy } from './plain-files.ts'

/** About the maximum length of a JavaScript string. This program writes no larger objects. */
export const TEXT_BYTES_MAX = 500 * 1024 * 1024
/** The end of a file's name while it is being written. */
export const UNFINISHED = '.tmp'
const besideOf = (path: string): string => `${path}${UNFINISHED}`

/**
 * Writes packed objects below the archive folder. Each gets its name only after it is complete and on the disk. The
 * caller must also call `syncFolders`, so that the names survive a power cut.
 * @returns the folders of the objects
 * @throws NodeJS.ErrnoException, ENOSPC if the disk is full; unfinished files are removed
 */
export async function writeObjects(dir: string, objects: readonly PackedObject[]): Promise<ReadonlySet<string>> {
  const places = objects.map(({ hash, members }) => ({ path: join(dir, objectPath(hash)), pieces: members }))
  const folders = new Set(places.map(({ path }) => dirname(path)))
  for (const folder of folders) makeFolder(dir, folder)
  await putInPlace(places)
  return folders
}

/**
 * Writes a temporary file, syncs it to the disk, and renames it.
 * @param below the archive folder
 */
export async function writeWhole(below: string, path: string, pieces: Iterable<Buffer>): Promise<void> {
  makeFolder(below, dirname(path))
  await putInPlace([{ path, pieces }])
  await syncFolders([dirname(path)])
}

interface Place {
  readonly path: string
  readonly pieces: Iterable<Buffer>
}

/** Only the sync is asynchronous: the other calls are short, and cost less processor time when they are synchronous. */
async function putInPlace(places: readonly Place[]): Promise<void> {
  for (const { path } of places) for (const each of [path, besideOf(path)]) requireNoFolder(each)
  try {
    await writeAllBeside(places)
    for (const { path } of places) renameSync(besideOf(path), path)
  } catch (error) {
    for (const { path } of places) rmSync(besideOf(path), { force: true })
    throw error
  }
}

async function writeAllBeside(places: readonly Place[]): Promise<void> {
  const files: number[] = []
  try {
    for (const place of places) files.push(writeBeside(place))
    const synced = await Promise.allSettled(files.map((file) => sync(file)))
    for (const outcome of synced) if (outcome.status === 'rejected') throw outcome.reason
  } finally {
    for (const file of files) closeSync(file)
  }
}

const sync = promisify(fsync)

/** @returns the open file */
function writeBeside({ path, pieces }: Place): number {
  const file = openNew(besideOf(path))
  try {
    for (const piece of pieces) writeWholly(file, piece)
    return file
  } catch (error) {
    closeSync(file)
    throw error
  }
}

/** Never opens an existing file: it may be a link to another place. */
function openNew(path: string): number {
  try {
    return openSync(path, 'wx', 0o600)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    unlinkSync(path)
    return openSync(path, 'wx', 0o600)
  }
}

function writeWholly(file: number, piece: Buffer): void {
  for (let at = 0; at < piece.length;) at += writeSync(file, piece, at)
}

/** A rename survives a power cut only if its folder was synced. Windows has no such call. */
export async function syncFolders(paths: Iterable<string>): Promise<void> {
  if (process.platform === 'win32') return
  for (const path of paths) {
    const folder = openSync(path, 'r')
    await sync(folder).finally(() => closeSync(folder))
  }
}

/**
 * An object's bytes, checked against its name. Never throws: for a missing or damaged file it says why.
 * @param bytesMax a longer file is not read
 */
export function readPacked(dir: string, hash: string, bytesMax = TEXT_BYTES_MAX): Decoded<Buffer> {
  try {
    const packed = readPlainFile(dir, join(dir, objectPath(hash)), Math.min(bytesMax, TEXT_BYTES_MAX))
    if (digest('sha256', packed) === hash) return { kind: 'sound', value: packed }
    return { kind: 'damaged', why: 'its bytes do not match its name' }
  } catch (error) {
    return { kind: 'damaged', why: `it cannot be read: ${saysWhy(error)}` }
  }
}

/** The bytes of an object's text. Never throws. */
export function unpack(packed: Buffer): Decoded<Buffer> {
  try {
    const text = gunzipSync(packed, { maxOutputLength: TEXT_BYTES_MAX })
    return isUtf8(text) ? { kind: 'sound', value: text } : { kind: 'damaged', why: 'it is not UTF-8' }
  } catch (error) {
    return { kind: 'damaged', why: `it cannot be unpacked: ${saysWhy(error)}` }
  }
}

const FIRST_BYTES = 64 * 1024

/** The chat id of a damaged object, from its first readable bytes. Null if they do not contain it. */
export function guessChatId(dir: string, object: string): string | null {
  try {
    const packed = readPlainFile(dir, join(dir, objectPath(object)), 500 * 1024 * 1024)
    const text = gunzipSync(packed.subarray(0, FIRST_BYTES), { finishFlush: constants.Z_SYNC_FLUSH }).toString()
    const [, quoted = 'null'] = /^\{"format":"[^"]*","version":\d+,"id":("(?:[^"\\]|\\.)*")/.exec(text) ?? []
    return JSON.parse(quoted) as string | null
  } catch {
    // The file is too damaged, and nothing else names its chat.
    return null
  }
}

/** Removes the temporary files of an interrupted run. No other file has such a name. */
export function removeUnfinished(dir: string): void {
  const folders = [join(dir, 'runs'), ...foldersIn(join(dir, 'objects'))]
  for (const folder of folders.filter(isFolder)) {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.name.endsWith(UNFINISHED) && !entry.isDirectory()) rmSync(join(folder, entry.name), { force: true })
    }
  }
}

const foldersIn = (path: string): string[] => (isFolder(path) ? readdirSync(path).map((name) => join(path, name)) : [])
