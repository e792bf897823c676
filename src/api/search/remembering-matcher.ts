import type { TermMatch, TermMatcher } from '../../text/matcher.ts'

/** Looks through a text once for each kind of part, however often it is asked: to choose a part, and to show it. */
export function rememberingMatcher(matcher: TermMatcher): TermMatcher {
  const known = new Map<string | undefined, Map<string, readonly TermMatch[]>>()
  return {
    find: (text, column) => {
      const ofColumn = known.get(column) ?? new Map<string, readonly TermMatch[]>()
      known.set(column, ofColumn)
      const matches = ofColumn.get(text) ?? matcher.find(text, column)
      ofColumn.set(text, matches)
      return matches
    },
  }
}
