import { isUtf8 } from 'node:buffer'
import type { AnswerWrite } from '../../../mirror/write/batch.ts'
import { listPendingContents, type OpenReference } from '../../../mirror/write/pending-references.ts'
import type { Source } from '../../source.ts'
import { CONTENT_PREFIX } from '../records/references.ts'
import { blobSource, endStep, rowOf, type BlobPass } from './blob-pass.ts'
import { readNamed, type NamedValue } from './read.ts'

/** It contains no chats, so no chat ever comes from it. */
const RANK = 9
/** Of a longer text only the beginning is stored: whole files can be attached, and Cursor's store has each of them. */
export const TEXT_OCTETS_MAX = 256 * 1024

/**
 * Pasted and attached texts, which messages name by their hash.
 * @param userDir Cursor's `User` folder
 */
export const pastedTextSource = (userDir: string): Source =>
  blobSource(userDir, { kind: 'pasted-text', decoder: 1, rank: RANK, look: findTexts })

async function findTexts(pass: BlobPass): Promise<void> {
  const asks = listPendingContents(pass.mirror, pass.asker, pass.after)
  const byKey = new Map<string, OpenReference[]>()
  for (const ask of asks) {
    const key = `${CONTENT_PREFIX}${ask.name}`
    byKey.set(key, [...(byKey.get(key) ?? []), ask])
  }
  for (const page of readNamed(pass.file, [...byKey.keys()], TEXT_OCTETS_MAX)) {
    const answers = page.values.flatMap((row) => (byKey.get(row.key) ?? []).flatMap((ask) => answerOf(ask, row)))
    await endStep(pass, page, { answers, rows: page.values.map(rowOf) })
  }
}

/** NULL is a deletion: there may be another value later. */
function answerOf({ num }: OpenReference, { value, octets }: NamedValue): AnswerWrite[] {
  if (value === null) return []
  const text = textOf(value, octets > value.length)
  return [{ ask: num, value: text, cappedFrom: text !== null && octets > value.length ? octets : null }]
}

/** Null if it is not text, for example a picture. A character that was cut at the end is left out. */
function textOf(bytes: Buffer, isCut: boolean): string | null {
  if (bytes.includes(0)) return null
  const whole = isCut ? bytes.subarray(0, endOfLastCharacter(bytes)) : bytes
  return isUtf8(whole) ? whole.toString('utf8') : null
}

/**
 * The end of the last complete character. A UTF-8 character has at most four bytes, and all but the first start with
 * the bits 10.
 */
function endOfLastCharacter(bytes: Buffer): number {
  for (let at = bytes.length - 1; at >= Math.max(0, bytes.length - 4); at -= 1) {
    const byte = bytes[at] ?? 0
    if (byte < 0x80) return at + 1
    if (byte < 0xc0) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
    return at + length <= bytes.length ? at + length : at
  }
  return bytes.length
}
