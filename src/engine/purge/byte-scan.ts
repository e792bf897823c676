import { createReadStream, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { PurgeReport } from '../../api/http/schemas/purge.ts'
import { formsOf, needlesOf } from '../../mirror/purge/scope.ts'

export interface ScanOrder {
  /** All files in and below these folders are read. */
  readonly folders: readonly string[]
  readonly match: string
}

export type ScanOutcome = NonNullable<PurgeReport['check']>

const CHUNK_BYTES = 1024 * 1024
const FOUND_MAX = 1000

/**
 * Searches the bytes of every file, and the content of gzip files, for a text. It must not run in a process that has the
 * mirror open: closing a file drops every lock that the process has on it.
 */
export async function scanBytes({ folders, match }: ScanOrder): Promise<ScanOutcome> {
  const scan = new ByteScan(folders, match)
  for (const folder of folders) await scan.walk(folder, folder)
  const { files, bytes, found, unread } = scan
  return { files, bytes, found: [...found.values()].slice(0, FOUND_MAX), unread: [...unread] }
}

class ByteScan {
  files = 0
  bytes = 0
  readonly found = new Map<string, { file: string; times: number; at: number }>()
  readonly unread = new Set<string>()
  readonly #folders: readonly string[]
  readonly #needles: readonly string[]
  readonly #overlap: number
  readonly #seen = new Set<string>()

  constructor(folders: readonly string[], match: string) {
    this.#folders = folders
    this.#needles = [...new Set([...formsOf(match), ...needlesOf(match)].map((text) => lowered(Buffer.from(text))))]
    this.#overlap = Math.max(...this.#needles.map((needle) => needle.length)) - 1
  }

  /** @param folder names are relative to it  @param path the folder itself, or something in it */
  async walk(folder: string, path: string): Promise<void> {
    await this.#orUnread(relative(folder, path) || path, async () => {
      for (const entry of readdirSync(path, { withFileTypes: true })) {
        const below = join(path, entry.name)
        // The archive folder may be inside the data folder.
        if (this.#seen.has(below)) continue
        this.#seen.add(below)
        if (entry.isDirectory()) await this.walk(folder, below)
        else if (entry.isFile()) await this.#read(below, relative(folder, below))
        else if (entry.isSymbolicLink() && !this.#folders.includes(below)) this.unread.add(relative(folder, below))
      }
    })
  }

  async #read(path: string, name: string): Promise<void> {
    const file = () => createReadStream(path, { highWaterMark: CHUNK_BYTES })
    await this.#orUnread(name, async () => {
      this.bytes += await pipeline(file(), (source: AsyncIterable<Buffer>) => this.#search(source, name))
      this.files += 1
    })
    if (!name.endsWith('.gz')) return
    const unpacked = `${name} (unpacked)`
    await this.#orUnread(unpacked, () =>
      // On Node 24 a pipeline that opens its source itself never ends if the file is damaged.
      pipeline(file(), createGunzip(), (source: AsyncIterable<Buffer>) => this.#search(source, unpacked)),
    )
  }

  /** A file that was removed in the meantime is not there. */
  async #orUnread(name: string, act: () => Promise<unknown>): Promise<void> {
    try {
      await act()
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) this.unread.add(name)
    }
  }

  /** @returns how many bytes */
  async #search(source: AsyncIterable<Buffer>, name: string): Promise<number> {
    let [before, start] = ['', 0]
    for await (const bytes of source) {
      const text = before + lowered(bytes)
      for (const needle of this.#needles) {
        // What ends in the bytes before was found with them.
        const from = Math.max(0, before.length - needle.length + 1)
        for (let at = text.indexOf(needle, from); at >= 0; at = text.indexOf(needle, at + 1)) {
          const find = this.found.get(name)
          if (find === undefined) this.found.set(name, { file: name, times: 1, at: start - before.length + at })
          else find.times += 1
        }
      }
      start += bytes.length
      before = text.slice(Math.max(0, text.length - this.#overlap))
    }
    return start
  }
}

/** One character for each byte, in lower case. */
const lowered = (bytes: Buffer): string => bytes.toString('latin1').toLowerCase()
