import { crc32, createGunzip, gunzipSync, inflateRawSync, type Inflate } from 'node:zlib'
import { isUtf8 } from 'node:buffer'
import type { Decoded } from '../../archive/chat-file.ts'
import { saysWhy } from './plain-files.ts'

const CHUNK_BYTES = 64 * 1024

/**
 * An object's lines without line feeds, unpacked in chunks: a highly compressed text takes no more memory than its
 * longest line.
 * @param onBytes gets the bytes of the text as they are unpacked
 * @throws Error that says what is wrong with the object
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

/** Most chats are short, and for these a stream is slower. Null if the object is too large. */
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

/** No known row of Cursor makes a longer line. A longer one is not unpacked to its end. */
export const LINE_BYTES_MAX = 128 * 1024 * 1024
const LINE_FEED = 0x0a
const BRACE = 0x7b

/** Cuts a text that arrives in pieces into lines. Stores only the line that is not complete yet. */
export class LineCutter {
  #begun: Buffer[] = []
  #length = 0

  /** To be called after the last piece. @throws Error if the last line has no end */
  end(): void {
    if (this.#length > 0) throw new Error('its last line is cut off')
  }

  /** @returns the lines that end in this piece, without line feeds  @throws Error that says what is wrong */
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
    if (this.#begun[0]?.[0] !== BRACE) throw new Error('a line of it does not start like a chat or a message')
  }
}

function textOf(pieces: readonly Buffer[]): string {
  const [first] = pieces
  const line = pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces)
  if (!isUtf8(line)) throw new Error('it is not UTF-8')
  return line.toString()
}

/** The writer starts a new member before the text of one gets this long. */
const MEMBER_BYTES_MAX = LINE_BYTES_MAX + 16 * 1024 * 1024
const HEADER_BYTES = 10
const TRAILER_BYTES = 8

/**
 * An object's lines without line feeds. Unpacks one gzip member at a time, so a chat of any length takes no more memory
 * than one member. Never throws: if something is wrong, the last item says what.
 * @param onBytes gets the bytes of the text as they are unpacked
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

/** @throws Error that says what is wrong with the object */
export function* unpackMembers(packed: Buffer): Generator<Buffer> {
  for (let at = 0; at < packed.length;) {
    const start = at + headerLength(packed.subarray(at))
    const { buffer, engine } = inflate(packed.subarray(start))
    const end = start + engine.bytesWritten
    if (packed.length < end + TRAILER_BYTES) throw new Error('it cannot be unpacked: it is cut off')
    if (packed.readUInt32LE(end) !== crc32(buffer)) throw new Error('it cannot be unpacked: its checksum is wrong')
    yield buffer
    at = end + TRAILER_BYTES
  }
}

/** This program writes members without a file name and other optional fields. */
function headerLength(member: Buffer): number {
  const isGzip = member.length > HEADER_BYTES && member.readUIntBE(0, 4) === 0x1f8b0800
  if (!isGzip) throw new Error('it cannot be unpacked: it is not a gzip file of this program')
  return HEADER_BYTES
}

interface Inflated {
  readonly buffer: Buffer
  /** Its `bytesWritten` is the number of bytes that it consumed. */
  readonly engine: Inflate
}

function inflate(deflated: Buffer): Inflated {
  try {
    // The types of Node do not include the option `info`.
    return inflateRawSync(deflated, { info: true, maxOutputLength: MEMBER_BYTES_MAX }) as unknown as Inflated
  } catch (error) {
    throw new Error(`it cannot be unpacked: ${saysWhy(error)}`, { cause: error })
  }
}
