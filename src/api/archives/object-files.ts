import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { open, rename, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { lineHash, type Decoded } from '../../archive/chat-file.ts'
import { objectPath } from '../../archive/names.ts'

/** Text is packed so much at a time: a gzip file may have several members, and a chat of any length needs no more memory. */
const MEMBER_CHARS = 4 * 1024 * 1024
/** A string of JavaScript's holds no more; what unpacks to more is not one of ours. */
const TEXT_BYTES_MAX = 500 * 1024 * 1024

/** A chat, packed, that is not yet under its name. */
export interface PackedObject {
  readonly hash: string
  readonly content: string
  readonly bytes: number
  /** Of each line behind the first. */
  readonly messages: readonly string[]
  /** Bytes of the text. */
  readonly textBytes: number
  readonly members: readonly Buffer[]
}

/** @param lines as `encodeChat` gives them */
export function packObject(lines: Iterable<string>): PackedObject {
  const object = createHash('sha256')
  const content = createHash('sha256')
  const hashes: string[] = []
  const members: Buffer[] = []
  let waiting = ''
  let textBytes = 0
  const pack = (): void => {
    if (waiting === '') return
    const text = Buffer.from(waiting)
    const member = gzipSync(text)
    content.update(text)
    object.update(member)
    members.push(member)
    textBytes += text.length
    waiting = ''
  }
  for (const line of lines) {
    hashes.push(lineHash(line.slice(0, -1)))
    waiting += line
    if (waiting.length >= MEMBER_CHARS) pack()
  }
  pack()
  const bytes = members.reduce((sum, member) => sum + member.length, 0)
  return {
    hash: object.digest('hex'),
    content: content.digest('hex'),
    bytes,
    messages: hashes.slice(1),
    textBytes,
    members,
  }
}

/**
 * Puts packed objects below the archive folder, each under its name only once it is whole and on the disk. One that is
 * there already is left as it is.
 * @throws NodeJS.ErrnoException, ENOSPC where the disk is full; what was not renamed by then is removed
 */
export async function writeObjects(dir: string, objects: readonly PackedObject[]): Promise<void> {
  const outcomes = await Promise.allSettled(objects.map((object) => writeObject(dir, object)))
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}

async function writeObject(dir: string, { hash, members }: PackedObject): Promise<void> {
  const path = join(dir, objectPath(hash))
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  await writeWhole(path, members)
}

/** Writes a file beside its place, brings it to the disk, and moves it there. */
export async function writeWhole(path: string, pieces: readonly (Buffer | string)[]): Promise<void> {
  const beside = `${path}.tmp`
  try {
    const file = await open(beside, 'w', 0o600)
    try {
      for (const piece of pieces) await file.appendFile(piece)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(beside, path)
  } catch (error) {
    await unlink(beside).catch(() => undefined)
    throw error
  }
  await syncFolder(dirname(path))
}

/** A renamed file is where it is after a power cut only once its folder is on the disk; Windows has no such call. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  await folder.sync().finally(() => folder.close())
}

/** An object's text, checked against its name. Total: a file that is missing or damaged is a sentence. */
export function readObject(dir: string, hash: string): Decoded<string> {
  let packed: Buffer
  try {
    packed = readFileSync(join(dir, objectPath(hash)))
  } catch (error) {
    return { kind: 'damaged', why: `it cannot be read: ${error instanceof Error ? error.message : String(error)}` }
  }
  if (createHash('sha256').update(packed).digest('hex') !== hash) {
    return { kind: 'damaged', why: 'its bytes are not those that its name says' }
  }
  try {
    return { kind: 'sound', value: gunzipSync(packed, { maxOutputLength: TEXT_BYTES_MAX }).toString() }
  } catch (error) {
    return { kind: 'damaged', why: `it cannot be unpacked: ${error instanceof Error ? error.message : String(error)}` }
  }
}
