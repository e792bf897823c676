import { createReadStream, existsSync, readdirSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { openReader } from '../../mirror/open.ts'
import { hasStaleWords } from '../../mirror/purge/forget-words.ts'
import { formsOf, needlesOf } from '../../mirror/purge/scope.ts'

export interface ScanOrder {
  /** All files in and below these folders are read. */
  readonly folders: readonly string[]
  readonly mirrorPath: string
  readonly match: string
}

export interface Scanned {
  /** Files that contain the text, by their path in the folder. */
  readonly found: readonly string[]
  /** Files and folders that could not be read or unpacked, and symbolic links. */
  readonly unread: readonly string[]
}

const CHUNK_BYTES = 1024 * 1024

/**
 * Searches the full-text index, the bytes of every file, and the content of gzip files, for a text. It must not run in a
 * process that has the mirror open: closing a file drops every lock that the process has on it.
 */
export async function scanBytes({ folders, mirrorPath, match }: ScanOrder): Promise<Scanned> {
  const needles = [...new Set([...formsOf(match), ...needlesOf(match)].map((text) => lowered(Buffer.from(text))))]
  const found: string[] = []
  const unread: string[] = []
  const mirror = openReader(mirrorPath)
  if (hasStaleWords(mirror, match)) found.push(`${basename(mirrorPath)} (full-text index)`)
  mirror.close()

  const search = async (name: string, bytes: Readable): Promise<void> => {
    try {
      if (await holdsOne(bytes, needles)) found.push(name)
    } catch (error) {
      // A file that was removed in the meantime is not there.
      if (!isMissing(error)) unread.push(name)
    }
  }
  for (const [path, name] of listFiles(folders, unread)) {
    const open = (): Readable => createReadStream(path, { highWaterMark: CHUNK_BYTES })
    await search(name, open())
    // An error of the file is one of what is unpacked, too.
    if (name.endsWith('.gz'))
      await search(
        `${name} (unpacked)`,
        pipeline(open(), createGunzip(), () => undefined),
      )
  }
  return { found, unread }
}

/** Paths of all files, with their paths in their folder. The archive folder may be inside the data folder. */
function listFiles(folders: readonly string[], unread: string[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const folder of folders.filter(existsSync)) {
    try {
      for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
        const path = join(entry.parentPath, entry.name)
        const name = relative(folder, path)
        if (entry.isFile() && !names.has(path)) names.set(path, name)
        else if (entry.isSymbolicLink() && !folders.includes(path)) unread.push(name)
      }
    } catch {
      unread.push(folder)
    }
  }
  return names
}

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT'

async function holdsOne(chunks: Readable, needles: readonly string[]): Promise<boolean> {
  const overlap = Math.max(...needles.map((needle) => needle.length)) - 1
  let before = ''
  for await (const chunk of chunks) {
    const text = before + lowered(chunk as Buffer)
    if (needles.some((needle) => text.includes(needle))) return true
    before = text.slice(-overlap)
  }
  return false
}

/** One character for each byte, in lower case. */
const lowered = (bytes: Buffer): string => bytes.toString('latin1').toLowerCase()
