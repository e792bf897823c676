import type { Mirror } from '../../../mirror/open.ts'
import { createDeadline, type Deadline } from '../deadline.ts'
import { echo } from '../language/lex.ts'
import type { QueryNode, WordsNode } from '../language/tree.ts'
import { readAsked } from '../related/asked.ts'
import { inflectionsOf } from '../related/languages.ts'
import type { SearchRequest } from '../request.ts'
import { correctQuery, replaceWords, spellableWords, type CorrectedQuery, type Correction } from './correct-query.ts'
import { tokenize } from '../../../text/terms/terms.ts'
import { countFound } from '../match/count-found.ts'
import { printQuery } from '../language/print.ts'
import { wordPhrases } from '../plan/word-phrases.ts'
import { countHolders } from './count-holders.ts'
import { nearWords, slipsForgiven } from './near-words.ts'
import type { SearchSuggestion } from '../../answers/search.ts'

export interface SpellingCheck {
  /** The query whose hits are shown instead of none. */
  readonly corrected: Correction | null
  readonly suggestions: readonly SearchSuggestion[]
  readonly warnings: readonly string[]
  /** If there is no such query: the query for the closest chats, and what is said if there are any. */
  readonly closest: { readonly tree: QueryNode; readonly warning: string } | null
}

const CHECK_MS = 500
const unchecked: SpellingCheck = { corrected: null, suggestions: [], warnings: [], closest: null }

/** Finds other spellings for a search that found nothing or very little. @param total number of hits */
export function checkSpelling(
  db: Mirror,
  tree: QueryNode | null,
  request: SearchRequest,
  total: number,
  deadline: Deadline,
): SpellingCheck {
  if (tree === null || deadline.isPassed()) return unchecked
  const own = createDeadline(CHECK_MS)
  const isOver = (): boolean => own.isPassed() || deadline.isPassed()
  if (total > 0) {
    return { ...unchecked, suggestions: suggestCommoner(db, tree, { ...request, total }, deadline, isOver) }
  }
  const { corrections, nearest } = correctQuery(db, tree, request, deadline, isOver)
  const suggestions = corrections.map(({ suggestion }) => suggestion)
  const [best] = corrections
  if (request.isLiteral === true) return { ...unchecked, suggestions }
  if (best === undefined || best.isPartial) return { ...unchecked, suggestions, closest: respellAll(db, tree, nearest) }
  return { ...unchecked, corrected: best, suggestions, warnings: [warningOf(best.words, 'hits')] }
}

/** No message needs to have all of these words, so nothing shows that a spelling is right. So only longer words are replaced. */
function respellAll(db: Mirror, tree: QueryNode, nearest: CorrectedQuery['nearest']): SpellingCheck['closest'] {
  const { language } = readAsked(tree, new Set())
  const replaced = [...nearest].filter(([{ text }, { isPrefix }]) => {
    const [only = '', ...others] = tokenize(text).map(({ term }) => term)
    if (isPrefix === true || others.length > 0) return isPrefix !== true
    // If another form of the word is known, it is spelled correctly, and the closest chats are found by that form.
    return slipsForgiven(only, LETTERS_MIN) > 0 && inflectionsOf(db, only, language).length === 1
  })
  if (replaced.length === 0) return null
  const words = replaced.map(([{ text }, spelling]) => ({ typed: text, meant: spelling.text }))
  return { tree: replaceWords(tree, new Map(replaced)), warning: warningOf(words, 'closest chats') }
}

function warningOf(words: Correction['words'], shown: string): string {
  const typed = quote(words.map((word) => word.typed))
  return `Nothing was found for ${typed}; these are the ${shown} for ${quote(words.map((word) => word.meant))}.`
}

const quote = (words: readonly string[]): string => echo(words.join(' '))

/** A search with more hits was probably spelled as intended. */
const FEW = 3
/** A word counts as a typo of another one that this many times as many messages contain. */
const TIMES_COMMONER = 50
const LETTERS_MIN = 5
const LOOKED_UP_MAX = 10

type Asked = Pick<SearchRequest, 'q' | 'filters' | 'clock'> & { readonly total: number }

/** For a search with few hits: suggests a much more frequent word at distance 1. The rare word may be a typo in a message. */
export function suggestCommoner(
  db: Mirror,
  tree: QueryNode,
  asked: Asked,
  deadline: Deadline,
  isOver: () => boolean,
): readonly SearchSuggestion[] {
  if (asked.total > FEW) return []
  const suggestions: SearchSuggestion[] = []
  for (const node of spellableWords(tree, asked.q)) {
    const commoner = isOver() ? null : commonerThan(db, node, isOver)
    if (commoner === null) continue
    const changed = replaceWords(tree, new Map([[node, commoner]]))
    const count = countFound(db, changed, asked, deadline)
    if (count > asked.total) suggestions.push({ text: printQuery(changed), reason: 'spelling', count })
  }
  return suggestions
}

function commonerThan(db: Mirror, { text }: WordsNode, isOver: () => boolean): { readonly text: string } | null {
  const [only, ...others] = tokenize(text)
  if (only === undefined || others.length > 0 || slipsForgiven(only.term, LETTERS_MIN) === 0) return null
  const own = countHolders(db, wordPhrases(text, false))
  if (own > FEW) return null
  const counted = nearWords(db, only.term, 1, isOver)
    .slice(0, LOOKED_UP_MAX)
    .map(({ term }) => ({ text: term, count: countHolders(db, [{ terms: [term], isPrefix: false }]) }))
  const [first] = counted.toSorted((a, b) => b.count - a.count)
  return first !== undefined && first.count >= TIMES_COMMONER * own ? first : null
}
