import { createReadStream, existsSync, readdirSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { openReader } from '../../mirror/open.ts'
import { hasStaleWords } from '../../mirror/purge/purge-rows.ts'
import { formsOf, needlesOf } from '../../mirror/purge/scope.ts'

export interface ScanOrder {
  /** All files in and below these folders are read. */
  readonly folders: readonly string[]
  readonly mirrorPath: string
  readonly match: string
}

const CHUNK_BYTES = 1024 * 1024

/**
 * Searches the full-text index and every file for a text, and gzip files unpacked. It must not run in a process that has
 * the mirror open: closing a file drops every lock that the process has on it.
 * @returns found: files that contain the text, by their path in the folder. unread: files and folders that could not be
 *   read or unpacked, and symbolic links
 */
export async function scanBytes({ folders, mirrorPath, match }: ScanOrder) {
  const needles = [...new Set([...formsOf(match), ...needlesOf(match)].map((text) => lowered(Buffer.from(text))))]
  const found: string[] = []
  const unread: string[] = []
  const mirror = openReader(mirrorPath)
  if (hasStaleWords(mirror, match)) found.push(`${basename(mirrorPath)} (full-text index)`)
  mirror.close()

  /** By their paths: the archive folder may be inside the data folder. */
  const names = new Map<string, string>()
  for (const folder of folders.filter(existsSync)) {
    try {
      for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
        const path = join(entry.parentPath, entry.name)
        const name = names.get(path) ?? relative(folder, path)
        if (entry.isFile()) names.set(path, name)
        else if (entry.isSymbolicLink() && !folders.includes(path)) unread.push(name)
      }
    } catch {
      unread.push(folder)
    }
  }
  for (const [path, name] of names) {
    const packed = createReadStream(path, { highWaterMark: CHUNK_BYTES })
    // An error of the file is one of what is unpacked, too.
    const bytes = name.endsWith('.gz') ? pipeline(packed, createGunzip(), () => undefined) : packed
    try {
      if (await holdsOne(bytes, needles)) found.push(name)
    } catch {
      // A file that was removed in the meantime is not there.
      if (existsSync(path)) unread.push(name)
    }
  }
  return { found, unread }
}

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
