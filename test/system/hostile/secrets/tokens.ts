import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A unique word for a place, always the same, only letters. */
export function tokenOf(place: string): string {
  const digest = createHash('sha256').update(`canary ${place}`).digest()
  return [...digest.subarray(0, 24)].map((byte) => String.fromCharCode(97 + (byte % 26))).join('')
}

/** An index stores a term without the prefix that it shares with the previous term. */
const SHARED = 4

/** The word in every encoding that a program might use. */
function formsOf(token: string): readonly string[] {
  const bytes = Buffer.from(token.slice(SHARED))
  const wide = Buffer.from(token.slice(SHARED), 'utf16le')
  return [
    bytes.toString('latin1'),
    ...[bytes, wide, Buffer.from(wide).swap16()].flatMap((each) => [each.toString('hex'), ...base64Of(each)]),
    // Without its last byte it also matches the other byte order.
    wide.subarray(0, -1).toString('latin1'),
  ]
}

/** Base64 turns three bytes into four characters, so there are three alignments. The outer characters include neighbours. */
function base64Of(bytes: Buffer): string[] {
  return [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    return text.replace(/=+$/, '').slice(before === 0 ? 0 : before + 1, -1)
  })
}

/** @returns the places whose words are in these bytes, in any form */
export function foundIn(bytes: Buffer | string, places: readonly string[]): string[] {
  const text = typeof bytes === 'string' ? bytes : bytes.toString('latin1')
  const folded = text.toLowerCase()
  return places.filter((place) =>
    // Base64 is case-sensitive. The other forms may be in any case.
    formsOf(tokenOf(place)).some((form) => (form === form.toLowerCase() ? folded.includes(form) : text.includes(form))),
  )
}

/** All bytes of all files below a folder, and their names. */
export function bytesOf(folder: string): Buffer {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const paths = entries.map((entry) => join(entry.parentPath, entry.name))
  const files = paths.filter((path) => lstatSync(path).isFile()).map((path) => readFileSync(path))
  return Buffer.concat([Buffer.from(paths.join('\n')), ...files])
}
