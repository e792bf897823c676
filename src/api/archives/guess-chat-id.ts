import { constants, gunzipSync } from 'node:zlib'
import { join } from 'node:path'
import { objectPath } from '../../archive/names.ts'
import { readPlainFile } from './plain-files.ts'

const FIRST_BYTES = 64 * 1024

/** Whose object this is, by the first of its bytes that can still be read; null where they tell nothing. */
export function guessChatId(dir: string, object: string): string | null {
  try {
    const packed = readPlainFile(dir, join(dir, objectPath(object)), 500 * 1024 * 1024)
    const text = gunzipSync(packed.subarray(0, FIRST_BYTES), { finishFlush: constants.Z_SYNC_FLUSH }).toString()
    const [, quoted = 'null'] = /^\{"format":"[^"]*","version":\d+,"id":("(?:[^"\\]|\\.)*")/.exec(text) ?? []
    return JSON.parse(quoted) as string | null
  } catch {
    // Nothing about a damaged file can be relied on, and nobody else names its chat.
    return null
  }
}
