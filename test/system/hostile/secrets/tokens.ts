import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A word for a place: the same one each time, letters alone, like no other. */
export function tokenOf(place: string): string {
  const digest = createHash('sha256').update(`canary ${place}`).digest()
  return [...digest.subarray(0, 24)].map((byte) => String.fromCharCode(97 + (byte % 26))).join('')
}

/** An index keeps a term without the beginning that it shares with the term before. */
const SHARED = 4

/** The word as bytes could hold it: as it is, and in every coding that a program might put it through. */
function formsOf(token: string): readonly string[] {
  const bytes = Buffer.from(token.slice(SHARED))
  const wide = Buffer.from(token.slice(SHARED), 'utf16le')
  return [
    bytes.toString('latin1'),
    ...[bytes, wide, Buffer.from(wide).swap16()].flatMap((each) => [each.toString('hex'), ...base64Of(each)]),
    // Without its last byte, it stands in the other order of bytes, too.
    wide.subarray(0, -1).toString('latin1'),
  ]
}

/** Three bytes make four signs: where a word begins among them is open. The first and last signs hold neighbours, too. */
function base64Of(bytes: Buffer): string[] {
  return [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    return text.replace(/=+$/, '').slice(before === 0 ? 0 : before + 1, -1)
  })
}

/** @returns the places whose words stand in these bytes, in any form */
export function foundIn(bytes: Buffer | string, places: readonly string[]): string[] {
  const text = typeof bytes === 'string' ? bytes : bytes.toString('latin1')
  const folded = text.toLowerCase()
  return places.filter((place) =>
    // Base64 says other letters by its capitals; the rest may be written in any case.
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
