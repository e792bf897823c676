import type { TermPhrase } from '../../../text/matcher.ts'
import { isUnspacedSign, tokenize } from '../../../text/terms.ts'

/**
 * What stands in the index where these words do: the terms as they are spelt and, where that differs, without their
 * capitals, for `JavaScript` means `javascript` too.
 */
export function wordPhrases(text: string, isPrefix: boolean): readonly TermPhrase[] {
  const found = tokenize(text)
  const terms = found.map((term) => term.term)
  const last = found.at(-1)
  if (last === undefined) return []
  if (isUnspacedSign(last.term)) {
    // In the index a sign mostly stands as the start of a pair. Behind its own pair it adds nothing.
    const before = found.at(-2)
    const isCovered = before !== undefined && before.end > last.start
    return isCovered ? [{ terms: terms.slice(0, -1), isPrefix: false }] : [{ terms, isPrefix: true }]
  }
  const lowered = tokenize(text.toLowerCase()).map((term) => term.term)
  const spelt = { terms, isPrefix }
  return lowered.length === terms.length ? [spelt] : [spelt, { terms: lowered, isPrefix }]
}
