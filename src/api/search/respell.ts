import type { Mirror } from '../../mirror/open.ts'
import { prepared } from '../../mirror/sql.ts'
import { tokenize, type Term } from '../../text/terms/terms.ts'
import { countHolders, hasTerm, nearWords, slipsForgiven } from './vocabulary.ts'
import { wordPhrases } from './condition.ts'

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

type Written = Omit<Spelling, 'count'>

/** How many spellings of one word are returned. */
const SPELLINGS_MAX = 5

/** The most likely spellings of a word, best first: nearest, then most frequent. */
export function respellWord(db: Mirror, text: string): readonly Spelling[] {
  return [...longerHash(db, text), ...partWord(db, text), ...respellLetters(db, text)]
    .flatMap((one): Spelling[] => {
      const count = countHolders(db, wordPhrases(one.text, one.isPrefix === true))
      return count === 0 ? [] : [{ ...one, count }]
    })
    .toSorted((a, b) => a.distance - b.distance || b.count - a.count)
    .slice(0, SPELLINGS_MAX)
}

/** How many candidates are looked up, nearest first. */
const LOOKED_UP_MAX = 40
/** How many parts of a name are respelled. */
const PARTS_MAX = 8
/** A part of a name may be shorter, because the other parts identify it too. */
const PART_LETTERS_MIN = 3

function respellLetters(db: Mirror, text: string): readonly Written[] {
  const terms = tokenize(text)
  if (terms.length === 1) return respellParts(db, text, terms, slipsForgiven)
  const isHeld = (term: string): boolean => countHolders(db, [{ terms: [term], isPrefix: false }]) > 0
  const unknown = terms.filter(({ term }) => slipsForgiven(term) > 0 && !isHeld(term)).slice(0, 2)
  if (unknown.length > 0) return respellParts(db, text, unknown, slipsForgiven)
  // Each part is a known word, but no name has them side by side.
  return terms.slice(0, PARTS_MAX).flatMap((term) => respellParts(db, text, [term], slipsInPart))
}

const slipsInPart = (term: string): number => Math.min(1, slipsForgiven(term, PART_LETTERS_MIN))

/** The text with each of the parts respelled. */
function respellParts(
  db: Mirror,
  text: string,
  parts: readonly Term[],
  slips: (term: string) => number,
): readonly Written[] {
  let written: readonly Written[] = [{ text, distance: 0 }]
  // From the end, so that the positions of the earlier parts stay the same.
  for (const part of parts.toReversed()) {
    const near = nearWords(db, part.term, slips(part.term))
      .map(({ term, distance }) => ({ term, distance: distance + unlikeness(part.term, term) }))
      .toSorted((a, b) => a.distance - b.distance)
      .slice(0, LOOKED_UP_MAX)
    written = written.flatMap((one) =>
      near.map(({ term, distance }) => ({ text: respell(one.text, part, term), distance: one.distance + distance })),
    )
  }
  return written
}

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
/** How many splits of a word, and how many spellings of a whole name, are looked up. */
const PARTED_MAX = 24
/** How many splits of each word of a name are combined. */
const PARTINGS_MAX = 3

/** Splits words that were typed as one and occur side by side: `username` finds `getUserName`. */
function partWord(db: Mirror, text: string): readonly Written[] {
  let written: readonly Written[] = [{ text, distance: 0 }]
  for (const { term, start, end } of tokenize(text).slice(0, PARTS_MAX).toReversed()) {
    const partings = partingsOf(db, text.slice(start, end), term)
    const parted = written.flatMap((one) =>
      partings.map((pieces) => ({
        text: `${one.text.slice(0, start)}${pieces.join(' ')}${one.text.slice(end)}`,
        distance: one.distance + pieces.filter((piece) => piece.length < SURE_LETTERS_MIN).length,
      })),
    )
    written = [...written, ...parted].slice(0, PARTED_MAX)
  }
  return written.slice(1)
}

/** Splits into as few words as possible. Splits whose shortest word is longest come first. */
function partingsOf(db: Mirror, typed: string, term: string): readonly (readonly string[])[] {
  if (slipsForgiven(term) === 0 || term.length > LETTERS_MAX) return []
  for (let count = 2; count <= PIECES_MAX; count += 1) {
    const held = cuts(db, term, count)
      .toSorted((a, b) => shortest(b) - shortest(a))
      .slice(0, PARTED_MAX)
      .filter((pieces) => countHolders(db, wordPhrases(pieces.join(' '), false)) > 0)
    if (held.length > 0) return held.slice(0, PARTINGS_MAX).map((pieces) => asTyped(typed, pieces))
  }
  return []
}

const shortest = (pieces: readonly string[]): number => Math.min(...pieces.map((piece) => piece.length))

/** Keeps the capitals and accents of the typed text, if folding did not change its length. */
function asTyped(typed: string, pieces: readonly string[]): readonly string[] {
  if (typed.length !== pieces.join('').length) return pieces
  let end = 0
  return pieces.map((piece) => typed.slice(end, (end += piece.length)))
}

/** All ways to split a word into this many known words. */
function cuts(db: Mirror, word: string, count: number): readonly (readonly string[])[] {
  if (count === 1) return hasTerm(db, word) ? [[word]] : []
  const made: (readonly string[])[] = []
  for (let end = PIECE_LETTERS_MIN; end <= word.length - PIECE_LETTERS_MIN * (count - 1); end += 1) {
    const first = word.slice(0, end)
    if (hasTerm(db, first)) made.push(...cuts(db, word.slice(end), count - 1).map((rest) => [first, ...rest]))
  }
  return made
}

/** A hash, or an id in groups of hexadecimal digits, at the end of a text. */
const hashEnd =
  /(?:(?<![\p{L}\p{M}\p{N}])[\da-f]{8}-[\da-f-]*|(?<![\p{L}\p{M}\p{N}])(?=[a-f]*\d)(?=\d*[a-f])[\da-f]{6,})$/iu
const bareDigits = /^\d{7,16}$/

const HAS_HASH = `select 1 from terms where term > @text and term < @text || 'g' and term glob '*[a-f]*' limit 1`

/**
 * People mostly give only the beginning of a hash. One in thirty begins with seven digits and looks like a number: a longer
 * term with a letter shows that it is a hash.
 */
function longerHash(db: Mirror, text: string): readonly Written[] {
  const isHash = hashEnd.test(text) || (bareDigits.test(text) && prepared(db, HAS_HASH).get({ text }) !== undefined)
  return isHash ? [{ text, distance: 0, isPrefix: true }] : []
}
