import type { Mirror } from '../../mirror/open.ts'
import { prepared } from '../../mirror/sql.ts'
import { tokenize, type Term } from '../../text/terms/terms.ts'
import { countHolders, hasTerm, nearWords, slipsForgiven } from './vocabulary.ts'
import { wordPhrases } from './words.ts'

/** Another spelling of a word, which occurs in the mirror. */
export interface Spelling {
  readonly text: string
  /** Edit distance between the two. */
  readonly distance: number
  /** How many messages and titles contain it, at most 10,000. */
  readonly count: number
  /** True if it is a prefix. */
  readonly isPrefix?: boolean
}

/** How many spellings of one word are returned. */
const SPELLINGS_MAX = 5
/** How many candidates are looked up, nearest first. */
const LOOKED_UP_MAX = 40
/** How many parts of a name are respelled. */
const PARTS_MAX = 8
/** A part of a name may be shorter, because the other parts identify it too. */
const PART_LETTERS_MIN = 3

/** The most likely spellings of a word, best first: nearest, then most frequent. */
export function respellWord(db: Mirror, text: string): readonly Spelling[] {
  return best([...otherHashes(db, text), ...partWord(db, text), ...respellLetters(db, text)])
}

function respellLetters(db: Mirror, text: string): readonly Spelling[] {
  const terms = tokenize(text)
  const [only] = terms
  if (terms.length === 1 && only !== undefined) return respellParts(db, text, [only], slipsForgiven)
  const unknown = terms.filter(({ term }) => slipsForgiven(term) > 0 && !isHeld(db, term)).slice(0, 2)
  if (unknown.length > 0) return respellParts(db, text, unknown, slipsForgiven)
  // Each part is a known word, but no name has them side by side.
  return terms.slice(0, PARTS_MAX).flatMap((term) => respellParts(db, text, [term], slipsForgivenInPart))
}

const slipsForgivenInPart = (term: string): number => Math.min(1, slipsForgiven(term, PART_LETTERS_MIN))

const isHeld = (db: Mirror, term: string): boolean => countHolders(db, [{ terms: [term], isPrefix: false }]) > 0

function best(spellings: readonly Spelling[]): readonly Spelling[] {
  const sorted = spellings.toSorted((a, b) => a.distance - b.distance || b.count - a.count)
  return sorted.slice(0, SPELLINGS_MAX)
}

/** The text with each of the parts respelled. The first part varies slowest. */
function respellParts(
  db: Mirror,
  text: string,
  parts: readonly Term[],
  slips: (term: string) => number,
): readonly Spelling[] {
  const [part, ...others] = parts
  if (part === undefined) return []
  const near = nearestFirst(part.term, nearWords(db, part.term, slips(part.term)))
  const found: Spelling[] = []
  for (const { term, distance } of near.slice(0, LOOKED_UP_MAX)) {
    const respelt = respell(text, part, term)
    const shifted = others.map((other) => shift(other, part, respelt.length - text.length))
    if (shifted.length > 0) {
      const further = respellParts(db, respelt, shifted, slips)
      found.push(...further.map((spelling) => ({ ...spelling, distance: spelling.distance + distance })))
    } else {
      const count = countHolders(db, wordPhrases(respelt, false))
      if (count > 0) found.push({ text: respelt, distance, count })
    }
  }
  return found
}

type Near = ReturnType<typeof nearWords>

const nearestFirst = (typed: string, near: Near): Near =>
  near
    .map(({ term, distance }) => ({ term, distance: distance + unlikeness(typed, term) }))
    .toSorted((a, b) => a.distance - b.distance)

/** Missing or swapped letters are more common than two wrong ones: `conection` means `connections` rather than `condition`. */
const unlikeness = (typed: string, term: string): number =>
  Math.min(lettersBeyond(typed, term), lettersBeyond(term, typed)) > 1 ? 0.5 : 0

/** How many letters of a word are missing in another one, in any order. */
function lettersBeyond(word: string, other: string): number {
  const left = Array.from(other)
  return Array.from(word).filter((letter) => {
    const at = left.indexOf(letter)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  }).length
}

const shift = (term: Term, behind: Term, by: number): Term =>
  term.start < behind.start ? term : { ...term, start: term.start + by, end: term.end + by }

/** The text with one part replaced. Keeps the capitals as typed, because they separate the parts of a name. */
export function respell(text: string, { start, end }: Term, term: string): string {
  const typed = text.slice(start, end)
  const isUpper = typed.length > 1 && typed === typed.toUpperCase()
  const isCapital = !isUpper && typed.charAt(0) !== typed.charAt(0).toLowerCase()
  const [first = '', ...rest] = Array.from(term)
  const spelt = isUpper ? term.toUpperCase() : `${isCapital ? first.toUpperCase() : first}${rest.join('')}`
  return `${text.slice(0, start)}${spelt}${text.slice(end)}`
}

const PIECES_MAX = 4
const PIECE_LETTERS_MIN = 2
/** Shorter pieces occur in many words by chance. */
const SURE_LETTERS_MIN = 3
const LETTERS_MAX = 32
const NAME_TERMS_MAX = 8
/** How many splits of a word, and how many spellings of a whole name, are looked up. */
const PARTED_MAX = 24
/** How many splits of each word of a name are combined. */
const PARTINGS_MAX = 3

/** Splits words that were typed as one and occur side by side: `username` finds `getUserName`. */
function partWord(db: Mirror, text: string): readonly Spelling[] {
  const isKnown = (word: string): boolean => hasTerm(db, word)
  let written: readonly Parted[] = [{ text, distance: 0 }]
  // From the end, so that the positions of the earlier terms stay the same.
  for (const term of tokenize(text).slice(0, NAME_TERMS_MAX).toReversed()) {
    const partings = partingsOf(db, text.slice(term.start, term.end), term, isKnown)
    const parted = written.flatMap((one) => partings.map((pieces) => withPieces(one, term, pieces)))
    written = [...written, ...parted].slice(0, PARTED_MAX)
  }
  return written.flatMap((one) => {
    const count = one.text === text ? 0 : countHolders(db, wordPhrases(one.text, false))
    return count === 0 ? [] : [{ ...one, count }]
  })
}

type Parted = Pick<Spelling, 'text' | 'distance'>

function withPieces({ text, distance }: Parted, { start, end }: Term, pieces: readonly string[]): Parted {
  const short = pieces.filter((piece) => piece.length < SURE_LETTERS_MIN).length
  return { text: `${text.slice(0, start)}${pieces.join(' ')}${text.slice(end)}`, distance: distance + short }
}

/** Splits into as few words as possible. Splits whose shortest word is longest come first. */
function partingsOf(
  db: Mirror,
  typed: string,
  { term }: Term,
  isKnown: (word: string) => boolean,
): readonly (readonly string[])[] {
  if (slipsForgiven(term) === 0 || term.length > LETTERS_MAX) return []
  for (let count = 2; count <= PIECES_MAX; count += 1) {
    const held = cuts(term, count, isKnown)
      .toSorted((a, b) => shortest(b) - shortest(a))
      .slice(0, PARTED_MAX)
      .filter((pieces) => countHolders(db, wordPhrases(pieces.join(' '), false)) > 0)
    if (held.length > 0) return held.slice(0, PARTINGS_MAX).map((pieces) => asTyped(typed, pieces))
  }
  return []
}

/** Keeps the capitals and accents of the typed text, if folding did not change its length. */
function asTyped(typed: string, pieces: readonly string[]): readonly string[] {
  if (typed.length !== pieces.join('').length) return pieces
  let end = 0
  return pieces.map((piece) => typed.slice(end, (end += piece.length)))
}

const shortest = (pieces: readonly string[]): number => Math.min(...pieces.map((piece) => piece.length))

/** All ways to split a word into this many known words. */
function cuts(word: string, count: number, isKnown: (word: string) => boolean): readonly (readonly string[])[] {
  if (count === 1) return isKnown(word) ? [[word]] : []
  const made: (readonly string[])[] = []
  for (let end = PIECE_LETTERS_MIN; end <= word.length - PIECE_LETTERS_MIN * (count - 1); end += 1) {
    const first = word.slice(0, end)
    if (isKnown(first)) made.push(...cuts(word.slice(end), count - 1, isKnown).map((rest) => [first, ...rest]))
  }
  return made
}

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
function otherHashes(db: Mirror, text: string): readonly Spelling[] {
  return [...longerHash(db, text), ...shorterHashes(db, text), ...otherNumber(db, text)]
}

/** People mostly give only the beginning of a hash. */
const longerHash = (db: Mirror, text: string): readonly Spelling[] =>
  hashEnd.test(text) || beginsHash(db, text) ? inUse(db, { text, isPrefix: true }) : []

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
  return left.flatMap((without) => inUse(db, { text: before + whole.slice(0, -without) }))
}

function otherNumber(db: Mirror, text: string): readonly Spelling[] {
  const digits = markedNumber.exec(text)?.groups?.['digits']
  if (digits !== undefined) return inUse(db, { text: digits })
  return bareNumber.test(text) ? inUse(db, { text: `0x${text}` }) : []
}

function inUse(db: Mirror, spelling: Pick<Spelling, 'text' | 'isPrefix'>): readonly Spelling[] {
  const count = countHolders(db, wordPhrases(spelling.text, spelling.isPrefix === true))
  return count === 0 ? [] : [{ ...spelling, distance: 0, count }]
}
