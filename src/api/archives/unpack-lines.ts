import { crc32, createGunzip, gunzipSync, inflateRawSync, type Inflate } from 'node:zlib'
import { isUtf8 } from 'node:buffer'
import type { Decoded } from '../../archive/chat-file.ts'
import { saysWhy } from './plain-files.ts'

const CHUNK_BYTES = 64 * 1024

/**
 * An object's lines without their line feeds, unpacked a little at a time: what is packed a thousandfold takes no more
 * memory than its longest line.
 * @param onBytes gets the text's bytes as they come
 * @throws Error that says what is wrong with it
 */
export async function* unpackLines(packed: Buffer, onBytes: (bytes: Buffer) => void): AsyncGenerator<string> {
  const lines = new LineCutter()
  for await (const chunk of unpackAtOnce(packed) ?? unpackInChunks(packed)) {
    onBytes(chunk)
    yield* lines.cut(chunk)
  }
  lines.end()
}

const SMALL_BYTES = 64 * 1024

/** Most chats are short, and a stream costs more than they do. Null for what is not. */
function unpackAtOnce(packed: Buffer): readonly Buffer[] | null {
  if (packed.length > SMALL_BYTES) return null
  try {
    return [gunzipSync(packed, { maxOutputLength: 16 * SMALL_BYTES })]
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') return null
    throw error
  }
}

function unpackInChunks(packed: Buffer): AsyncIterable<Buffer> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES })
  gunzip.end(packed)
  return gunzip
}

/** Longer than any row of Cursor's that was ever met, as a line; what claims to be longer is not unpacked to its end. */
export const LINE_BYTES_MAX = 128 * 1024 * 1024
const LINE_FEED = 0x0a
const BRACE = 0x7b

/** Cuts a text that comes in pieces into its lines; holds no more of it than the line that has begun. */
export class LineCutter {
  #begun: Buffer[] = []
  #length = 0

  /** To be called behind the last piece. @throws Error where a line is not ended */
  end(): void {
    if (this.#length > 0) throw new Error('its last line is cut off')
  }

  /** @returns the lines that end in this piece, without their line feeds  @throws Error that says what is wrong */
  *cut(piece: Buffer): Generator<string> {
    let start = 0
    for (let end = piece.indexOf(LINE_FEED); end >= 0; end = piece.indexOf(LINE_FEED, start)) {
      yield textOf([...this.#begun, piece.subarray(start, end)])
      this.#begun = []
      this.#length = 0
      start = end + 1
    }
    if (start === piece.length) return
    this.#begun.push(piece.subarray(start))
    this.#length += piece.length - start
    if (this.#length > LINE_BYTES_MAX) throw new Error('a line of it is longer than any message')
    if (this.#begun[0]?.[0] !== BRACE) throw new Error('a line of it is not what a chat or a message begins with')
  }
}

function textOf(pieces: readonly Buffer[]): string {
  const [first] = pieces
  const line = pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces)
  if (!isUtf8(line)) throw new Error('it is not UTF-8')
  return line.toString()
}

/** One is begun anew before its text is so long and a line longer. */
const MEMBER_BYTES_MAX = LINE_BYTES_MAX + 16 * 1024 * 1024
const HEADER_BYTES = 10
const TRAILER_BYTES = 8

/**
 * An object's lines without their line feeds, a member of the file unpacked at a time: a chat of any length takes no
 * more memory than one. Total: the last one given says what is wrong, where something is.
 * @param onBytes gets the text's bytes as they come
 */
export function* linesOf(packed: Buffer, onBytes: (bytes: Buffer) => void): Generator<Decoded<string>> {
  const lines = new LineCutter()
  try {
    for (const member of unpackMembers(packed)) {
      onBytes(member)
      for (const line of lines.cut(member)) yield { kind: 'sound', value: line }
    }
    lines.end()
  } catch (error) {
    yield { kind: 'damaged', why: saysWhy(error) }
  }
}

/** @throws Error that says what is wrong with it */
export function* unpackMembers(packed: Buffer): Generator<Buffer> {
  for (let at = 0; at < packed.length;) {
    const start = at + headerLength(packed.subarray(at))
    const { buffer, engine } = inflate(packed.subarray(start))
    const end = start + engine.bytesWritten
    if (packed.length < end + TRAILER_BYTES) throw new Error('it cannot be unpacked: it is cut off')
    if (packed.readUInt32LE(end) !== crc32(buffer)) throw new Error('it cannot be unpacked: its checksum is another')
    yield buffer
    at = end + TRAILER_BYTES
  }
}

/** Of a member as this program packs it: with no name of a file, and nothing else that may stand there. */
function headerLength(member: Buffer): number {
  const isGzip = member.length > HEADER_BYTES && member.readUIntBE(0, 4) === 0x1f8b0800
  if (!isGzip) throw new Error('it cannot be unpacked: it is not gzip as it is written here')
  return HEADER_BYTES
}

interface Inflated {
  readonly buffer: Buffer
  /** Knows how much of what it was given it took. */
  readonly engine: Inflate
}

function inflate(deflated: Buffer): Inflated {
  try {
    // Node's types do not know what `info` changes.
    return inflateRawSync(deflated, { info: true, maxOutputLength: MEMBER_BYTES_MAX }) as unknown as Inflated
  } catch (error) {
    throw new Error(`it cannot be unpacked: ${saysWhy(error)}`, { cause: error })
  }
}
