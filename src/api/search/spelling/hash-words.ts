import type { Mirror } from '../../../mirror/open.ts'
import { prepared } from '../../../mirror/prepared.ts'
import { wordPhrases } from '../plan/word-phrases.ts'
import { countHolders, type Spelling } from './count-holders.ts'

/** The end of a hash, or of a name in groups of hexadecimal digits. */
const hashEnd =
  /(?:(?<![\p{L}\p{M}\p{N}])[\da-f]{8}-[\da-f-]*|(?<![\p{L}\p{M}\p{N}])(?=[a-f]*\d)(?=\d*[a-f])[\da-f]{6,})$/iu
/** As git and registries of images tell them whole. */
const wholeHash = /(?<![\p{L}\p{M}\p{N}])(?:[\da-f]{40}|[\da-f]{64})$/iu
/** What git tells of a hash at the least. */
const SHORT_DIGITS_MIN = 7
const bareDigits = /^\d{7,16}$/
/** A code or an address, with what tells how it is written. Fewer digits without it are any number or word. */
const markedNumber = /^0x(?<digits>[\da-f]{4,16})$/i
const bareNumber = /^[\da-f]{8,16}$/i

/** The other ways in which a hash or a hexadecimal number is told, as far as something holds them. */
export function otherHashes(db: Mirror, text: string): readonly Spelling[] {
  return [...longerHash(db, text), ...shorterHashes(db, text), ...otherNumber(db, text)]
}

/** Hashes are mostly told by how they begin. */
const longerHash = (db: Mirror, text: string): readonly Spelling[] =>
  hashEnd.test(text) || beginsHash(db, text) ? held(db, { text, isPrefix: true }) : []

const HAS_HASH = `
  select 1 as found from terms where term > @text and term < @text || 'g' and term glob '*[a-f]*' limit 1
`

/** One hash in thirty begins with seven digits, and looks like a number then: there is one if a letter ever follows. */
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
