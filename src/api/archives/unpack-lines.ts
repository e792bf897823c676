import { createGunzip, gunzipSync } from 'node:zlib'
import { LineCutter } from './cut-lines.ts'

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
