import type { TermMatch, TermMatcher } from '../../text/matcher.ts'

/** What is scored is mostly shown as well: each text of one answer is looked through once. */
export function rememberingMatcher(matcher: TermMatcher): TermMatcher {
  const known = new Map<string, readonly TermMatch[]>()
  return {
    find: (text) => {
      const found = known.get(text) ?? matcher.find(text)
      known.set(text, found)
      return found
    },
  }
}
