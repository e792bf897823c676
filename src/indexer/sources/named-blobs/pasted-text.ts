import { isUtf8 } from 'node:buffer'
import { listPendingContents, type OpenReference } from '../../../mirror/write/pending-references.ts'
import type { AnswerWrite } from '../../../mirror/write/batch.ts'
import type { PassStep, Source } from '../../source.ts'
import { CONTENT_PREFIX } from '../records/state/find-contents.ts'
import { blobSource, foundStep, rowOf, type BlobPass } from './blob-pass.ts'
import { readNamed, type NamedValue } from './read.ts'

/** It holds no chats, so that none is ever its own. */
const RANK = 9
/** Of a longer text only the beginning is kept: whole files are attached, and the store keeps each. */
export const TEXT_OCTETS_MAX = 256 * 1024

/** The texts that messages name by their hash: pasted, or attached. @param userDir Cursor's `User` folder */
export const pastedTextSource = (userDir: string): Source =>
  blobSource(userDir, { kind: 'pasted-text', decoder: 1, rank: RANK, look: findTexts })

function* findTexts(pass: BlobPass): Generator<PassStep, void> {
  const asks = listPendingContents(pass.mirror, pass.asker, pass.after)
  const byKey = new Map<string, OpenReference[]>()
  for (const ask of asks) {
    const key = `${CONTENT_PREFIX}${ask.name}`
    byKey.set(key, [...(byKey.get(key) ?? []), ask])
  }
  for (const page of readNamed(pass.file, [...byKey.keys()], TEXT_OCTETS_MAX)) {
    const answers = page.values.flatMap((row) => (byKey.get(row.key) ?? []).flatMap((ask) => answerOf(ask, row)))
    yield foundStep(pass, page, { answers, rows: page.values.map(rowOf) })
  }
}

/** A NULL is a deletion: there may be another value some day. */
function answerOf({ num }: OpenReference, { value, octets }: NamedValue): AnswerWrite[] {
  if (value === null) return []
  const text = textOf(value, octets > value.length)
  return [{ ask: num, value: text, cappedFrom: text !== null && octets > value.length ? octets : null }]
}

/** Null for what is no text: a picture, say. The last sign of a beginning may be cut in two, and is left out. */
function textOf(bytes: Buffer, isCut: boolean): string | null {
  if (bytes.includes(0)) return null
  const whole = isCut ? bytes.subarray(0, endOfLastSign(bytes)) : bytes
  return isUtf8(whole) ? whole.toString('utf8') : null
}

/** Where the last sign that is whole ends: a sign has at most four bytes, and those after its first begin with 10. */
function endOfLastSign(bytes: Buffer): number {
  for (let at = bytes.length - 1; at >= Math.max(0, bytes.length - 4); at -= 1) {
    const byte = bytes[at] ?? 0
    if (byte < 0x80) return at + 1
    if (byte < 0xc0) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
    return at + length <= bytes.length ? at + length : at
  }
  return bytes.length
}
