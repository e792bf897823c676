import { isUtf8 } from 'node:buffer'
import { createGunzip, gunzipSync } from 'node:zlib'

/** Longer than any row of Cursor's that was ever met, as a line; what claims to be longer is not unpacked to its end. */
const LINE_BYTES_MAX = 128 * 1024 * 1024
const CHUNK_BYTES = 64 * 1024
const LINE_FEED = 0x0a

/**
 * An object's lines without their line feeds, unpacked a little at a time: what is packed a thousandfold takes no more
 * memory than its longest line.
 * @param onBytes gets the text's bytes as they come
 * @throws Error that says what is wrong with it
 */
export async function* unpackLines(packed: Buffer, onBytes: (bytes: Buffer) => void): AsyncGenerator<string> {
  let begun: Buffer[] = []
  let length = 0
  for await (const chunk of unpackAtOnce(packed) ?? unpackInChunks(packed)) {
    onBytes(chunk)
    let start = 0
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      yield textOf([...begun, chunk.subarray(start, end)])
      begun = []
      length = 0
      start = end + 1
    }
    if (start === chunk.length) continue
    begun.push(chunk.subarray(start))
    length += chunk.length - start
    if (length > LINE_BYTES_MAX) throw new Error('a line of it is longer than any message')
    if (begun[0]?.[0] !== BRACE) throw new Error('a line of it is not what a chat or a message begins with')
  }
  if (length > 0) throw new Error('its last line is cut off')
}

const BRACE = 0x7b
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

function textOf(pieces: readonly Buffer[]): string {
  const [first] = pieces
  const line = pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces)
  if (!isUtf8(line)) throw new Error('it is not UTF-8')
  return line.toString()
}
