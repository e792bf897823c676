import {
  closeSync,
  constants as flags,
  existsSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  statSync,
  type Dirent,
} from 'node:fs'
import { join, relative, sep } from 'node:path'
import { needlesOf } from '../../mirror/purge/scope.ts'
import { PIECE_OCTETS } from '../../mirror/purge/pieces.ts'
import { PieceSearch } from '../../text/piece-search.ts'
import { unpackAsFar } from './unpack-as-far.ts'

export interface RawOrder {
  /** All files below these are read, whatever they are. */
  readonly folders: readonly string[]
  /** Where nothing is looked for as a whole, null. */
  readonly match: string | null
  /** Terms by which the index held it. */
  readonly terms: readonly string[]
  /** Pieces of what was removed, a letter for each byte. */
  readonly pieces: readonly string[]
}

/** A place in which something of what was purged stands. */
export interface RawFind {
  /** Below the folder that was searched. */
  readonly file: string
  readonly times: number
  /** Of the first, in bytes; of a packed file, in what it unpacks to. */
  readonly at: number
  /** Where one of the pieces was found: which. */
  readonly piece: string | null
}

export interface RawOutcome {
  readonly files: number
  readonly bytes: number
  readonly found: readonly RawFind[]
  /** Files that could not be read, or not be unpacked to their end. */
  readonly unread: readonly string[]
}

const CHUNK_BYTES = 4 * 1024 * 1024
/** Of many finds so many are told. */
const FOUND_MAX = 1000

/**
 * Searches the raw bytes of every file for what was purged, and what gzip files unpack to. Not for a process that has the
 * mirror open: to close a file drops every lock that the process holds on it.
 */
export function* searchRaw(order: RawOrder): Generator<void, RawOutcome> {
  const folders = order.folders.filter((each) => existsSync(each))
  const search = new RawSearch(order, folders)
  for (const folder of folders) yield* search.walk(folder, folder)
  return search.outcome
}

class RawSearch {
  /** What is searched, by its own name. */
  readonly #targets: readonly string[]
  readonly #needles: readonly Buffer[]
  readonly #pieces: PieceSearch
  readonly #overlap: number
  readonly #found = new Map<string, { file: string; times: number; at: number; piece: string | null }>()
  readonly #seen = new Set<string>()
  /** By path, as they are told. */
  readonly #unread = new Map<string, string>()
  #files = 0
  #bytes = 0

  /** @param folders those that there are, all of which are searched */
  constructor({ match, terms, pieces }: RawOrder, folders: readonly string[]) {
    this.#targets = folders.map((folder) => realpathSync(folder))
    this.#needles = needlesInBytes(match, terms)
    this.#pieces = new PieceSearch(pieces, PIECE_OCTETS)
    this.#overlap = Math.max(PIECE_OCTETS, ...this.#needles.map((needle) => needle.length)) - 1
  }

  get outcome(): RawOutcome {
    const found = [...this.#found.values()].slice(0, FOUND_MAX)
    return { files: this.#files, bytes: this.#bytes, found, unread: [...this.#unread.values()] }
  }

  /** @param folder from which names are told  @param below it, or itself */
  *walk(folder: string, below: string): Generator<void> {
    for (const entry of this.#list(folder, below)) {
      const path = join(below, entry.name)
      if (entry.isDirectory()) yield* this.walk(folder, path)
      else if (entry.isFile() || (entry.isSymbolicLink() && this.#isFileElsewhere(folder, path)))
        yield* this.#look(folder, path)
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
    // An archive folder may lie within the data folder.
    if (this.#seen.has(path)) return
    this.#seen.add(path)
    const name = relative(folder, path)
    try {
      yield* this.#read(path, name)
      this.#files += 1
    } catch (error) {
      this.#noteUnread(folder, path, error)
    }
  }

  /** What goes while it is looked for is not there. An archive folder within the data folder is walked twice. */
  #noteUnread(folder: string, path: string, error: unknown): void {
    const isGone = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    if (!isGone && !this.#unread.has(path)) this.#unread.set(path, relative(folder, path) || path)
  }

  /** Whether a link leads to a file that is not searched as such. A folder elsewhere is not ours to look through: it is told. */
  #isFileElsewhere(folder: string, path: string): boolean {
    try {
      const target = realpathSync(path)
      if (this.#targets.some((each) => isWithin(each, target))) return false
      if (statSync(target).isFile()) return true
      this.#noteUnread(folder, path, null)
    } catch (error) {
      this.#noteUnread(folder, path, error)
    }
    return false
  }

  *#read(path: string, name: string): Generator<void> {
    const file = openSync(path, flags.O_RDONLY | (flags.O_NONBLOCK ?? 0))
    try {
      const chunk = Buffer.alloc(CHUNK_BYTES + this.#overlap)
      let [kept, at] = [0, 0]
      for (;;) {
        const read = readSync(file, chunk, kept, CHUNK_BYTES, null)
        if (read === 0) return
        const bytes = chunk.subarray(0, kept + read)
        if (at === 0 && bytes[0] === 0x1f && bytes[1] === 0x8b) this.#unpack(path, name)
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

  /** As far as it can be unpacked. */
  #unpack(path: string, file: string): void {
    const name = `${file} (unpacked)`
    const { pieces, isWhole } = unpackAsFar(readWhole(path))
    let offset = 0
    for (const piece of pieces) {
      this.#search(piece, name, offset, 0)
      offset += piece.length
    }
    if (!isWhole) this.#unread.set(name, name)
  }

  /** @param before how many of the bytes were searched with those before them: what ends in them was found */
  #search(bytes: Buffer, name: string, offset: number, before: number): void {
    const folded = this.#needles.length === 0 ? bytes : lowered(bytes)
    for (const needle of this.#needles) {
      for (let at = folded.indexOf(needle); at >= 0; at = folded.indexOf(needle, at + 1)) {
        if (at + needle.length > before) this.#note(name, offset + at, null)
      }
    }
    this.#pieces.scan(bytes, (piece, at) => {
      if (at + PIECE_OCTETS > before) this.#note(name, offset + at, piece)
    })
  }

  #note(file: string, at: number, piece: string | null): void {
    const key = `${file}\n${piece ?? ''}`
    const find = this.#found.get(key)
    if (find === undefined) this.#found.set(key, { file, times: 1, at, piece })
    else find.times += 1
  }
}

function readWhole(path: string): Buffer {
  const file = openSync(path, 'r')
  try {
    const pieces: Buffer[] = []
    for (;;) {
      const piece = Buffer.alloc(CHUNK_BYTES)
      const read = readSync(file, piece, 0, CHUNK_BYTES, null)
      if (read === 0) return Buffer.concat(pieces)
      pieces.push(piece.subarray(0, read))
    }
  } finally {
    closeSync(file)
  }
}

/** The case of letters beyond ASCII differs in bytes: those of one case and of the other are looked for. */
function needlesInBytes(match: string | null, terms: readonly string[]): Buffer[] {
  const cases = match === null ? [] : [match, match.toLowerCase(), match.toUpperCase()]
  const spellings = new Set([...cases.flatMap(spellingsOf), ...terms])
  return [...new Map([...spellings].map((text) => [text, lowered(Buffer.from(text))])).values()]
}

const isWithin = (folder: string, path: string): boolean => path === folder || path.startsWith(`${folder}${sep}`)

const spellingsOf = (text: string): string[] => [text, text.normalize('NFC'), text.normalize('NFD'), ...needlesOf(text)]

const lowerCase = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte))

/** The same bytes, with the letters of ASCII in lower case. */
function lowered(bytes: Buffer): Buffer {
  const folded = Buffer.allocUnsafe(bytes.length)
  for (let at = 0; at < bytes.length; at += 1) folded[at] = lowerCase[bytes[at] ?? 0] ?? 0
  return folded
}
