import type { TermPhrase } from '../../../text/passages/matcher.ts'
import { kindOf, LOWER } from '../../../text/terms/signs.ts'
import { isUnspacedSign, tokenize, type Term } from '../../../text/terms/terms.ts'

/**
 * What stands in the index where these words do: the terms as they are spelt, and the other ways to part the same
 * letters, for `OAuthToken` means `oauth_token` too, and `java_script` `javascript`.
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
  const hash = isPrefix ? hashStart(text) : []
  const phrases = [terms, ...otherPartings(text, found), ...hash].map((each) => ({ terms: each, isPrefix }))
  return [...new Map(phrases.map((phrase) => [phrase.terms.join(' '), phrase])).values()]
}

/** Eight hexadecimal digits are one term, and fewer may be the beginning of one. */
function hashStart(text: string): readonly (readonly string[])[] {
  const [digits] = /(?<![\p{L}\p{M}\p{N}])(?=[\da-f]{2,7}$)(?:\d+[a-f]|[a-f]+\d)[\da-f]*$/iu.exec(text) ?? []
  if (digits === undefined) return []
  return [[...tokenize(text.slice(0, -digits.length)).map((term) => term.term), digits.toLowerCase()]]
}

/** Each costs a look into the index: a name of very many parts is parted as it is spelt, and in one piece. */
const SINGLE_JOINTS_MAX = 8

/** With all parts joined, and with each two neighbours. */
function otherPartings(text: string, found: readonly Term[]): readonly (readonly string[])[] {
  const joints = found.flatMap((term, index) => (isJoint(text, found[index - 1], term) ? [index] : []))
  if (joints.length === 0) return []
  const singles = joints.length > 1 && joints.length <= SINGLE_JOINTS_MAX ? joints.map((joint) => [joint]) : []
  return [joints, ...singles].map((joined) => tokenize(joinAt(text, found, joints, joined)).map((term) => term.term))
}

/** Where two parts of one name meet that others may write as one: at a capital, or at `_` or `-` between letters. */
function isJoint(text: string, left: Term | undefined, right: Term): boolean {
  if (left === undefined || !/^[_-]?$/.test(text.slice(left.end, right.start))) return false
  const signs = [Array.from(left.term).at(-1), Array.from(right.term).at(0)]
  return signs.every((sign = '') => kindOf(sign.codePointAt(0) ?? 0) === LOWER)
}

/** Written in small letters, which part nothing: as it was, but for the joints. */
function joinAt(text: string, found: readonly Term[], joints: readonly number[], joined: readonly number[]): string {
  return found
    .map(({ start, end }, index) => {
      const gap = joints.includes(index) ? ' ' : text.slice(found[index - 1]?.end ?? 0, start)
      return `${joined.includes(index) ? '' : gap}${text.slice(start, end).toLowerCase()}`
    })
    .join('')
}
