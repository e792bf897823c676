import type { Mirror } from '../../../mirror/open.ts'
import { prepared } from '../../../mirror/sql.ts'
import { wordPhrases } from '../plan/word-phrases.ts'
import { countHolders, type Spelling } from './count-holders.ts'

/** A hash, or an id in groups of hexadecimal digits, at the end of a text. */
const hashEnd =
  /(?:(?<![\p{L}\p{M}\p{N}])[\da-f]{8}-[\da-f-]*|(?<![\p{L}\p{M}\p{N}])(?=[a-f]*\d)(?=\d*[a-f])[\da-f]{6,})$/iu
/** A full SHA-1 or SHA-256, as in git and image registries. */
const wholeHash = /(?<![\p{L}\p{M}\p{N}])(?:[\da-f]{40}|[\da-f]{64})$/iu
/** The shortest abbreviation that git prints. */
const SHORT_DIGITS_MIN = 7
const bareDigits = /^\d{7,16}$/
/** A code or an address with `0x`. Without it, fewer digits can be any number or word. */
const markedNumber = /^0x(?<digits>[\da-f]{4,16})$/i
const bareNumber = /^[\da-f]{8,16}$/i

/** Other ways to write a hash or a hexadecimal number, if they occur in the mirror. */
export function otherHashes(db: Mirror, text: string): readonly Spelling[] {
  return [...longerHash(db, text), ...shorterHashes(db, text), ...otherNumber(db, text)]
}

/** People mostly give only the beginning of a hash. */
const longerHash = (db: Mirror, text: string): readonly Spelling[] =>
  hashEnd.test(text) || beginsHash(db, text) ? held(db, { text, isPrefix: true }) : []

const HAS_HASH = `
  select 1 as found from terms where term > @text and term < @text || 'g' and term glob '*[a-f]*' limit 1
`

/** One hash in thirty begins with seven digits and looks like a number. A longer term with a letter shows that it is a hash. */
const beginsHash = (db: Mirror, text: string): boolean =>
  bareDigits.test(text) && prepared<{ found: number }>(db, HAS_HASH).get({ text }) !== undefined

function shorterHashes(db: Mirror, text: string): readonly Spelling[] {
  const [whole = ''] = wholeHash.exec(text) ?? []
  const before = text.slice(0, text.length - whole.length)
  const left = Array.from({ length: Math.max(0, whole.length - SHORT_DIGITS_MIN) }, (_, index) => index + 1)
  return left.flatMap((without) => held(db, { text: before + whole.slice(0, -without) }))
}

function otherNumber(db: Mirror, text: string): readonly Spelling[] {
  const digits = markedNumber.exec(text)?.groups?.['digits']
  if (digits !== undefined) return held(db, { text: digits })
  return bareNumber.test(text) ? held(db, { text: `0x${text}` }) : []
}

function held(db: Mirror, spelling: Pick<Spelling, 'text' | 'isPrefix'>): readonly Spelling[] {
  const count = countHolders(db, wordPhrases(spelling.text, spelling.isPrefix === true))
  return count === 0 ? [] : [{ ...spelling, distance: 0, count }]
}
