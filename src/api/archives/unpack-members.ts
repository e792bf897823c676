import { crc32, inflateRawSync, type Inflate } from 'node:zlib'
import type { Decoded } from '../../archive/chat-file.ts'
import { LineCutter, LINE_BYTES_MAX } from './cut-lines.ts'
import { saysWhy } from './plain-files.ts'

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
