import { createReadStream, readdirSync, type Dirent } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { PurgeReport } from '../../api/http/schemas/purge.ts'
import { openReader } from '../../mirror/open.ts'
import { countStale } from '../../mirror/purge/forget-words.ts'
import { formsOf, needlesOf } from '../../mirror/purge/scope.ts'

export interface ScanOrder {
  /** All files in and below these folders are read. */
  readonly folders: readonly string[]
  readonly mirrorPath: string
  readonly match: string
}

export type ScanOutcome = NonNullable<PurgeReport['check']>

const CHUNK_BYTES = 1024 * 1024
const FOUND_MAX = 1000

/**
 * Searches the full-text index, the bytes of every file, and the content of gzip files, for a text. It must not run in a
 * process that has the mirror open: closing a file drops every lock that the process has on it.
 */
export async function scanBytes({ folders, mirrorPath, match }: ScanOrder): Promise<ScanOutcome> {
  const needles = [...new Set([...formsOf(match), ...needlesOf(match)].map((text) => lowered(Buffer.from(text))))]
  const count = counting(needles)
  const found: ScanOutcome['found'][number][] = []
  const unread: string[] = []
  let [files, bytes] = [0, 0]
  const mirror = openReader(mirrorPath)
  const stale = countStale(mirror, match)
  mirror.close()
  if (stale > 0) found.push({ file: `${basename(mirrorPath)} (full-text index)`, times: stale, at: 0 })

  const search = async (file: string, path: string, isPacked: boolean): Promise<number | null> => {
    const source = createReadStream(path, { highWaterMark: CHUNK_BYTES })
    try {
      const counted = await (isPacked ? pipeline(source, createGunzip(), count) : pipeline(source, count))
      if (counted.times > 0) found.push({ file, times: counted.times, at: counted.at })
      return counted.bytes
    } catch (error) {
      // A file that was removed in the meantime is not there.
      if (!isMissing(error)) unread.push(file)
      return null
    }
  }

  const seen = new Set<string>()
  const walk = async (folder: string, path: string): Promise<void> => {
    for (const entry of entriesOf(path) ?? (unread.push(relative(folder, path) || path), [])) {
      const below = join(path, entry.name)
      const name = relative(folder, below)
      // The archive folder may be inside the data folder.
      if (seen.has(below)) continue
      seen.add(below)
      if (entry.isDirectory()) await walk(folder, below)
      else if (entry.isSymbolicLink() && !folders.includes(below)) unread.push(name)
      if (!entry.isFile()) continue
      const size = await search(name, below, false)
      files += size === null ? 0 : 1
      bytes += size ?? 0
      if (name.endsWith('.gz')) await search(`${name} (unpacked)`, below, true)
    }
  }
  for (const folder of folders) await walk(folder, folder)
  return { files, bytes, found: found.slice(0, FOUND_MAX), unread }
}

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT'

/** Null if the folder cannot be read. */
function entriesOf(path: string): readonly Dirent[] | null {
  try {
    return readdirSync(path, { withFileTypes: true })
  } catch (error) {
    return isMissing(error) ? [] : null
  }
}

/** Counts how often one of the needles occurs, and where first. */
function counting(needles: readonly string[]) {
  const overlap = Math.max(...needles.map((needle) => needle.length)) - 1
  return async (chunks: AsyncIterable<Buffer>) => {
    let [before, bytes, times, first] = ['', 0, 0, -1]
    for await (const chunk of chunks) {
      const text = before + lowered(chunk)
      for (const needle of needles) {
        // What ends in the bytes before was found with them.
        const from = Math.max(0, before.length - needle.length + 1)
        for (let at = text.indexOf(needle, from); at >= 0; at = text.indexOf(needle, at + 1)) {
          const place = bytes - before.length + at
          first = first < 0 ? place : Math.min(first, place)
          times += 1
        }
      }
      bytes += chunk.length
      before = text.slice(Math.max(0, text.length - overlap))
    }
    return { bytes, times, at: first }
  }
}

/** One character for each byte, in lower case. */
const lowered = (bytes: Buffer): string => bytes.toString('latin1').toLowerCase()
