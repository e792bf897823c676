import { closeSync, openSync, readdirSync, readFileSync, readSync, type Dirent } from 'node:fs'
import { join, relative } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { formsOf, needlesOf } from '../../mirror/purge/scope.ts'

export interface ScanOrder {
  /** All files in and below these folders are read. */
  readonly folders: readonly string[]
  readonly match: string
}

/** A file that contains the text. */
export interface ScanFind {
  /** Relative to the folder that was searched. */
  readonly file: string
  readonly times: number
  /** Offset of the first occurrence, in bytes; for a gzip file, in its unpacked content. */
  readonly at: number
}

export interface ScanOutcome {
  readonly files: number
  readonly bytes: number
  readonly found: readonly ScanFind[]
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
export function* scanBytes({ folders, match }: ScanOrder): Generator<void, ScanOutcome> {
  const scan = new ByteScan(folders, match)
  for (const folder of folders) yield* scan.walk(folder, folder)
  return scan.outcome
}

class ByteScan {
  readonly #folders: readonly string[]
  readonly #needles: readonly string[]
  readonly #overlap: number
  readonly #seen = new Set<string>()
  readonly #found = new Map<string, { file: string; times: number; at: number }>()
  readonly #unread = new Map<string, string>()
  #files = 0
  #bytes = 0

  constructor(folders: readonly string[], match: string) {
    this.#folders = folders
    const needles = [...formsOf(match), ...needlesOf(match)].map((text) => lowered(Buffer.from(text)))
    this.#needles = [...new Set(needles)]
    this.#overlap = Math.max(...this.#needles.map((needle) => needle.length)) - 1
  }

  get outcome(): ScanOutcome {
    const found = [...this.#found.values()].slice(0, FOUND_MAX)
    return { files: this.#files, bytes: this.#bytes, found, unread: [...this.#unread.values()] }
  }

  /** @param folder names are relative to it  @param below the folder itself, or one in it */
  *walk(folder: string, below: string): Generator<void> {
    for (const entry of this.#list(folder, below)) {
      const path = join(below, entry.name)
      // The archive folder may be inside the data folder.
      if (this.#seen.has(path)) continue
      this.#seen.add(path)
      if (entry.isDirectory()) yield* this.walk(folder, path)
      else if (entry.isFile()) yield* this.#look(folder, path)
      else if (entry.isSymbolicLink() && !this.#folders.includes(path)) this.#noteUnread(folder, path)
    }
  }

  #list(folder: string, below: string): readonly Dirent[] {
    try {
      return readdirSync(below, { withFileTypes: true })
    } catch (error) {
      this.#noteUnread(folder, below, error)
      return []
    }
  }

  *#look(folder: string, path: string): Generator<void> {
    try {
      yield* this.#read(path, relative(folder, path))
      this.#files += 1
    } catch (error) {
      this.#noteUnread(folder, path, error)
    }
  }

  /** A file that was removed in the meantime is not there. */
  #noteUnread(folder: string, path: string, error?: unknown): void {
    const isGone = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    if (!isGone) this.#unread.set(path, relative(folder, path) || path)
  }

  *#read(path: string, name: string): Generator<void> {
    const file = openSync(path, 'r')
    try {
      const chunk = Buffer.alloc(CHUNK_BYTES + this.#overlap)
      let [kept, at] = [0, 0]
      for (;;) {
        const read = readSync(file, chunk, kept, CHUNK_BYTES, null)
        if (read === 0) return
        const bytes = chunk.subarray(0, kept + read)
        if (at === 0 && bytes[0] === 0x1f && bytes[1] === 0x8b) this.#unpack(path, `${name} (unpacked)`)
        this.#search(bytes, name, at - kept, kept)
        this.#bytes += read
        at += read
        kept = Math.min(this.#overlap, bytes.length)
        bytes.copy(chunk, 0, bytes.length - kept)
        yield
      }
    } finally {
      closeSync(file)
    }
  }

  #unpack(path: string, name: string): void {
    try {
      this.#search(gunzipSync(readFileSync(path), { maxOutputLength: UNPACKED_BYTES_MAX }), name, 0, 0)
    } catch {
      this.#unread.set(name, name)
    }
  }

  /** @param before how many bytes at the beginning were searched before; a find that ends in them is known */
  #search(bytes: Buffer, name: string, offset: number, before: number): void {
    const text = lowered(bytes)
    for (const needle of this.#needles) {
      for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1)) {
        if (at + needle.length <= before) continue
        const find = this.#found.get(name)
        if (find === undefined) this.#found.set(name, { file: name, times: 1, at: offset + at })
        else find.times += 1
      }
    }
  }
}

/** One character for each byte, in lower case. */
const lowered = (bytes: Buffer): string => bytes.toString('latin1').toLowerCase()
