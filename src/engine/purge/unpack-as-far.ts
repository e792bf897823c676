import { constants, gunzipSync, type Gunzip } from 'node:zlib'

const UNPACKED_BYTES_MAX = 500 * 1024 * 1024
/** How each member of a file begins that is packed here: flags and a time that say nothing. No text packs to that. */
const MEMBER = Buffer.from([0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0])

export interface UnpackedAsFar {
  /** What the file unpacks to, in order, with gaps where it is damaged. */
  readonly pieces: readonly Buffer[]
  readonly isWhole: boolean
}

/** A gzip file as far as it can be unpacked: where it is damaged, each of its members up to its damage. */
export function unpackAsFar(packed: Buffer): UnpackedAsFar {
  const whole = unpack(packed, constants.Z_FINISH)
  // What is no gzip behind a member ends it without an error.
  if (whole !== null && whole.taken === packed.length) return { pieces: [whole.text], isWhole: true }
  return { pieces: membersOf(packed).map(unpackStart), isWhole: false }
}

function membersOf(packed: Buffer): Buffer[] {
  const members: Buffer[] = []
  for (let at = 0; at < packed.length;) {
    const next = packed.indexOf(MEMBER, at + 1)
    const end = next < 0 ? packed.length : next
    members.push(packed.subarray(at, end))
    at = end
  }
  return members
}

interface Unpacked {
  readonly text: Buffer<ArrayBuffer>
  /** Bytes of the packed file. */
  readonly taken: number
}

/** The longest beginning without an error, but that its end is missing. A checksum counts only once all of it is there. */
function unpackStart(packed: Buffer): Buffer {
  let text = Buffer.alloc(0)
  for (let [least, most] = [1, packed.length]; least <= most;) {
    const length = (least + most) >> 1
    const unpacked = unpack(packed.subarray(0, length), constants.Z_SYNC_FLUSH)
    if (unpacked === null) most = length - 1
    else {
      text = unpacked.text
      least = length + 1
    }
  }
  return text
}

/** Null where it is damaged, or too long. @param finishFlush says whether a missing end is an error */
function unpack(packed: Buffer, finishFlush: number): Unpacked | null {
  const options = { finishFlush, maxOutputLength: UNPACKED_BYTES_MAX, info: true }
  try {
    // Node's types do not know what `info` changes.
    const { buffer, engine } = gunzipSync(packed, options) as unknown as { buffer: Buffer<ArrayBuffer>; engine: Gunzip }
    return { text: buffer, taken: engine.bytesWritten }
  } catch {
    return null
  }
}
