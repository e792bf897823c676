import type { Mirror } from '../../../mirror/open.ts'
import { prepared } from '../../../mirror/prepared.ts'
import { nearTerms, type NearTerm, type Seek } from '../../../text/near-terms.ts'

const TERM_FROM = `select term from terms where term >= ? order by term limit 1`

/** More than a handful are never near a word of four letters or more; a list of nonsense must cost no more for it. */
const FOUND_MAX = 200

/**
 * The words of the mirror that a mistyped one is near, out of the list of all terms there are: the rarest is found like
 * the most frequent. Some may have lost their last message. With two slips the first letter is taken to be right, as it
 * mostly is: of half a million words a tenth is walked then. @param isOver stops the walk
 */
export function nearWords(db: Mirror, word: string, distanceMax: number, isOver: () => boolean): readonly NearTerm[] {
  const walk = (slips: number, beginning: string): readonly NearTerm[] =>
    nearTerms(word, seekFrom(db, beginning), { distanceMax: slips, foundMax: FOUND_MAX, isOver })
  const [first = ''] = Array.from(word)
  const near = [...walk(Math.min(1, distanceMax), ''), ...(distanceMax > 1 ? walk(distanceMax, first) : [])]
  const found = new Map(near.map((each) => [each.term, each]))
  return [...found.values()].filter(({ term, distance }) => distance > 0 && isSpellable(term))
}

/** Among the words that begin so. */
function seekFrom(db: Mirror, beginning: string): Seek {
  const statement = prepared<{ term: string }>(db, TERM_FROM)
  return (from) => {
    const term = statement.get(from < beginning ? beginning : from)?.term
    return term?.startsWith(beginning) === true ? term : undefined
  }
}

/** So few letters have so many neighbours that each would be as likely. */
const LETTERS_MIN = 4
/** From here on a second slip is forgiven. */
const TWO_SLIPS_LETTERS_MIN = 8

// Chinese, Japanese, Korean and Thai are written without such slips: signs are chosen whole.
const letters =
  /^(?:[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Hebrew}\p{Script=Arabic}]|\p{M})+$/u

/** Numbers and hashes have neighbours that mean something else. */
const isSpellable = (term: string): boolean => letters.test(term)

/** How many slips are forgiven in a word: none in a short one, and none where other signs than letters stand in it. */
export function slipsForgiven(term: string, lettersMin = LETTERS_MIN): 0 | 1 | 2 {
  const count = Array.from(term).length
  if (count < lettersMin || !isSpellable(term)) return 0
  return count < TWO_SLIPS_LETTERS_MIN ? 1 : 2
}
