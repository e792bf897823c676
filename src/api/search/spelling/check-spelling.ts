import type { Mirror } from '../../../mirror/open.ts'
import { createDeadline, type Deadline } from '../deadline.ts'
import { echo } from '../language/lex.ts'
import type { QueryNode } from '../language/tree.ts'
import type { SearchRequest, SearchSuggestion } from '../request.ts'
import { correctQuery, type Correction } from './correct-query.ts'
import { suggestCommoner } from './suggest-commoner.ts'

export interface SpellingCheck {
  /** Whose hits are shown in place of none. */
  readonly corrected: Correction | null
  readonly suggestions: readonly SearchSuggestion[]
  readonly warnings: readonly string[]
}

const CHECK_MS = 500
const unchecked: SpellingCheck = { corrected: null, suggestions: [], warnings: [] }

/** What else was probably meant, where a search found nothing or next to nothing. @param total how much it found */
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
  const corrections = correctQuery(db, tree, request, deadline, isOver)
  const suggestions = corrections.map(({ suggestion }) => suggestion)
  const [best] = corrections
  if (best === undefined || best.isPartial || request.isLiteral === true) return { ...unchecked, suggestions }
  return { corrected: best, suggestions, warnings: [warningOf(best)] }
}

function warningOf({ words }: Correction): string {
  const typed = quote(words.map((word) => word.typed))
  return `Nothing was found for ${typed}; these are the hits for ${quote(words.map((word) => word.meant))}.`
}

const quote = (words: readonly string[]): string => echo(words.join(' '))
