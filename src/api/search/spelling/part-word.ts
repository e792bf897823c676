import type { Mirror } from '../../../mirror/open.ts'
import { prepared } from '../../../mirror/sql.ts'
import { tokenize, type Term } from '../../../text/terms/terms.ts'
import { wordPhrases } from '../plan/word-phrases.ts'
import { countHolders, type Spelling } from './count-holders.ts'
import { slipsForgiven } from './near-words.ts'

const HAS_TERM = `select 1 as found from terms where term = ?`

const PIECES_MAX = 4
const PIECE_LETTERS_MIN = 2
/** Shorter pieces occur in many words by chance. */
const SURE_LETTERS_MIN = 3
const LETTERS_MAX = 32
const TERMS_MAX = 8
/** How many splits of a word, and how many spellings of a whole name, are looked up. */
const LOOKED_UP_MAX = 24
/** How many splits of each word of a name are combined. */
const PARTINGS_MAX = 3

/** Splits words that were typed as one and occur side by side: `username` finds `getUserName`. */
export function partWord(db: Mirror, text: string, isOver: () => boolean): readonly Spelling[] {
  const isKnown = createLookup(db)
  let written: readonly Parted[] = [{ text, distance: 0 }]
  // From the end, so that the positions of the earlier terms stay the same.
  for (const term of tokenize(text).slice(0, TERMS_MAX).toReversed()) {
    const partings = partingsOf(db, text.slice(term.start, term.end), term, isKnown, isOver)
    const parted = written.flatMap((one) => partings.map((pieces) => withPieces(one, term, pieces)))
    written = [...written, ...parted].slice(0, LOOKED_UP_MAX)
  }
  return written.flatMap((one) => {
    const count = one.text === text || isOver() ? 0 : countHolders(db, wordPhrases(one.text, false))
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
  isOver: () => boolean,
): readonly (readonly string[])[] {
  if (slipsForgiven(term) === 0 || term.length > LETTERS_MAX) return []
  for (let count = 2; count <= PIECES_MAX; count += 1) {
    const held = cuts(term, count, isKnown)
      .toSorted((a, b) => shortest(b) - shortest(a))
      .slice(0, LOOKED_UP_MAX)
      .filter((pieces) => !isOver() && countHolders(db, wordPhrases(pieces.join(' '), false)) > 0)
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

/** Whether a word is in the list of terms. Each word is looked up once. */
function createLookup(db: Mirror): (word: string) => boolean {
  const known = new Map<string, boolean>()
  const statement = prepared<{ found: number }>(db, HAS_TERM)
  return (word) => {
    const found = known.get(word) ?? statement.get(word) !== undefined
    known.set(word, found)
    return found
  }
}
