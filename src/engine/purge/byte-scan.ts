import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs'
import { join, relative } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { formsOf, needlesOf } from '../../mirror/purge/scope.ts'

export interface ScanOrder {
  /** All files in and below these folders are read. */
  readonly folders: readonly string[]
  readonly match: string
}

export interface ScanOutcome {
  readonly files: number
  readonly bytes: number
  /** Files that contain the text, by their path in the folder. `at` is the offset of the first occurrence, in bytes. */
  readonly found: readonly { readonly file: string; readonly times: number; readonly at: number }[]
  /** Files and folders that could not be read or unpacked, and symbolic links. */
  readonly unread: readonly string[]
}

const CHUNK_BYTES = 4 * 1024 * 1024
const UNPACKED_BYTES_MAX = 500 * 1024 * 1024
const FOUND_MAX = 1000

/**
 * Searches the bytes of every file, and the content of gzip files, for a text. It must not run in a process that has the
 * mirror open: closing a file drops every lock that the process has on it.
 */
export function scanBytes({ folders, match }: ScanOrder): ScanOutcome {
  const scan = new ByteScan(folders, match)
  for (const folder of folders) scan.walk(folder, folder)
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
  walk(folder: string, path: string): void {
    // The archive folder may be inside the data folder.
    if (this.#seen.has(path)) return
    this.#seen.add(path)
    const name = relative(folder, path)
    try {
      for (const entry of readdirSync(path, { withFileTypes: true })) {
        const below = join(path, entry.name)
        if (entry.isDirectory()) this.walk(folder, below)
        else if (entry.isFile()) this.#read(below, relative(folder, below))
        else if (entry.isSymbolicLink() && !this.#folders.includes(below)) this.unread.add(relative(folder, below))
      }
    } catch (error) {
      this.#noteUnread(name || path, error)
    }
  }

  /** A file that was removed in the meantime is not there. */
  #noteUnread(name: string, error: unknown): void {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) this.unread.add(name)
  }

  #read(path: string, name: string): void {
    if (this.#seen.has(path)) return
    this.#seen.add(path)
    try {
      const isPacked = this.#readChunks(path, name)
      if (isPacked) this.#unpack(path, `${name} (unpacked)`)
      this.files += 1
    } catch (error) {
      this.#noteUnread(name, error)
    }
  }

  /** @returns whether it is a gzip file */
  #readChunks(path: string, name: string): boolean {
    const file = openSync(path, 'r')
    try {
      const chunk = Buffer.alloc(CHUNK_BYTES + this.#overlap)
      let isPacked = false
      for (let [kept, at] = [0, 0]; ;) {
        const read = readSync(file, chunk, kept, CHUNK_BYTES, null)
        if (read === 0) return isPacked
        const bytes = chunk.subarray(0, kept + read)
        if (at === 0) isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b
        this.#search(bytes, name, at - kept, kept)
        at += read
        this.bytes += read
        kept = Math.min(this.#overlap, bytes.length)
        bytes.copy(chunk, 0, bytes.length - kept)
      }
    } finally {
      closeSync(file)
    }
  }

  #unpack(path: string, name: string): void {
    try {
      this.#search(gunzipSync(readFileSync(path), { maxOutputLength: UNPACKED_BYTES_MAX }), name, 0, 0)
    } catch {
      this.unread.add(name)
    }
  }

  /** @param before how many bytes at the beginning were searched before; a find that ends in them is known */
  #search(bytes: Buffer, name: string, offset: number, before: number): void {
    const text = lowered(bytes)
    for (const needle of this.#needles) {
      for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1)) {
        if (at + needle.length <= before) continue
        const find = this.found.get(name)
        if (find === undefined) this.found.set(name, { file: name, times: 1, at: offset + at })
        else find.times += 1
      }
    }
  }
}

/** One character for each byte, in lower case. */
const lowered = (bytes: Buffer): string => bytes.toString('latin1').toLowerCase()
