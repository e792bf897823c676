import type { Mirror } from '../../../mirror/open.ts'
import { tokenize, type Term } from '../../../text/terms/terms.ts'
import type { WordsNode } from '../language/tree.ts'
import { wordPhrases } from '../plan/word-phrases.ts'
import { otherHashes } from './hash-words.ts'
import { countHolders, type Spelling } from './count-holders.ts'
import { nearWords, slipsForgiven } from './near-words.ts'
import { partWord } from './part-word.ts'

/** How many spellings of one word are returned. */
const SPELLINGS_MAX = 5
/** How many candidates are looked up, nearest first. */
const LOOKED_UP_MAX = 40
/** How many parts of a name are respelled. */
const PARTS_MAX = 8
/** A part of a name may be shorter, because the other parts identify it too. */
const PART_LETTERS_MIN = 3

/** The most likely spellings of a word, best first: nearest, then most frequent. */
export function respellWord(db: Mirror, { text }: WordsNode, isOver: () => boolean): readonly Spelling[] {
  return best([...otherHashes(db, text), ...partWord(db, text, isOver), ...respellLetters(db, text, isOver)])
}

function respellLetters(db: Mirror, text: string, isOver: () => boolean): readonly Spelling[] {
  const terms = tokenize(text)
  const [only] = terms
  if (terms.length === 1 && only !== undefined) return respellParts(db, text, [only], slipsForgiven, isOver)
  const unknown = terms.filter(({ term }) => slipsForgiven(term) > 0 && !isHeld(db, term)).slice(0, 2)
  if (unknown.length > 0) return respellParts(db, text, unknown, slipsForgiven, isOver)
  // Each part is a known word, but no name has them side by side.
  return terms.slice(0, PARTS_MAX).flatMap((term) => respellParts(db, text, [term], slipsForgivenInPart, isOver))
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
  isOver: () => boolean,
): readonly Spelling[] {
  const [part, ...others] = parts
  if (part === undefined) return []
  const near = nearestFirst(part.term, nearWords(db, part.term, slips(part.term), isOver))
  const found: Spelling[] = []
  for (const { term, distance } of near.slice(0, LOOKED_UP_MAX)) {
    if (isOver()) break
    const respelt = respell(text, part, term)
    const shifted = others.map((other) => shift(other, part, respelt.length - text.length))
    if (shifted.length > 0) {
      const further = respellParts(db, respelt, shifted, slips, isOver)
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
