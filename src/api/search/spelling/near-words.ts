import type { Mirror } from '../../../mirror/open.ts'
import { prepared } from '../../../mirror/sql.ts'
import { nearTerms, type NearTerm, type Seek } from '../../../text/near-terms.ts'

const TERM_FROM = `select term from terms where term >= ? order by term limit 1`

/** Real lists have few words near a word of four letters. The limit bounds the cost for a list of random words. */
const FOUND_MAX = 200

/**
 * The words near a mistyped one, from the list of all terms, rare or frequent. Some may have no message any more. For
 * distance 2 the first letter is taken as right: then only a tenth of half a million words is walked.
 * @param isOver stops the walk
 */
export function nearWords(db: Mirror, word: string, distanceMax: number, isOver: () => boolean): readonly NearTerm[] {
  const walk = (slips: number, beginning: string): readonly NearTerm[] =>
    nearTerms(word, seekFrom(db, beginning), { distanceMax: slips, foundMax: FOUND_MAX, isOver })
  const [first = ''] = Array.from(word)
  const near = [...walk(Math.min(1, distanceMax), ''), ...(distanceMax > 1 ? walk(distanceMax, first) : [])]
  const found = new Map(near.map((each) => [each.term, each]))
  return [...found.values()].filter(({ term, distance }) => distance > 0 && isSpellable(term))
}

/** Seeks among the words with this prefix. */
function seekFrom(db: Mirror, beginning: string): Seek {
  const statement = prepared<{ term: string }>(db, TERM_FROM)
  return (from) => {
    const term = statement.get(from < beginning ? beginning : from)?.term
    return term?.startsWith(beginning) === true ? term : undefined
  }
}

/** A shorter word has too many neighbours, all equally likely. */
const LETTERS_MIN = 4
/** Words of this length may have two typos. */
const TWO_SLIPS_LETTERS_MIN = 8

// Chinese, Japanese, Korean and Thai have no such typos: whole characters are chosen.
const letters =
  /^(?:[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Hebrew}\p{Script=Arabic}]|\p{M})+$/u

/** The neighbours of numbers and hashes have other meanings. */
const isSpellable = (term: string): boolean => letters.test(term)

/** How many typos are forgiven in a word: none in a short word or in one with digits or signs. */
export function slipsForgiven(term: string, lettersMin = LETTERS_MIN): 0 | 1 | 2 {
  const count = Array.from(term).length
  if (count < lettersMin || !isSpellable(term)) return 0
  return count < TWO_SLIPS_LETTERS_MIN ? 1 : 2
}
