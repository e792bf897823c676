import type { TermPhrase } from '../../text/passages/matcher.ts'
import { kindOf, LOWER } from '../../text/terms/signs.ts'
import { isUnspacedSign, tokenize, type Term } from '../../text/terms/terms.ts'

/**
 * The terms that the index may have for these words: as spelt, and with the same letters split in other ways, because
 * `OAuthToken` also means `oauth_token`, and `java_script` also means `javascript`.
 */
export function wordPhrases(text: string, isPrefix: boolean): readonly TermPhrase[] {
  const found = tokenize(text)
  const terms = found.map((term) => term.term)
  const last = found.at(-1)
  if (last === undefined) return []
  if (isUnspacedSign(last.term)) {
    // In the index, a character is usually the start of a pair. After its own pair it adds nothing.
    const before = found.at(-2)
    const isCovered = before !== undefined && before.end > last.start
    return isCovered ? [{ terms: terms.slice(0, -1), isPrefix: false }] : [{ terms, isPrefix: true }]
  }
  const hash = isPrefix ? hashStart(text) : []
  const phrases = [terms, ...otherPartings(text, found), ...hash].map((each) => ({ terms: each, isPrefix }))
  return [...new Map(phrases.map((phrase) => [phrase.terms.join(' '), phrase])).values()]
}

/** Eight hexadecimal digits are one term, and fewer digits may be the beginning of one. */
function hashStart(text: string): readonly (readonly string[])[] {
  const [digits] = /(?<![\p{L}\p{M}\p{N}])(?=[\da-f]{2,7}$)(?:\d+[a-f]|[a-f]+\d)[\da-f]*$/iu.exec(text) ?? []
  if (digits === undefined) return []
  return [[...tokenize(text.slice(0, -digits.length)).map((term) => term.term), digits.toLowerCase()]]
}

/** Each spelling costs an index query. A name with more parts is searched only as spelt and as one piece. */
const SINGLE_JOINTS_MAX = 8

/** All parts joined, and each two neighbours joined. */
function otherPartings(text: string, found: readonly Term[]): readonly (readonly string[])[] {
  const joints = found.flatMap((term, index) => (isJoint(text, found[index - 1], term) ? [index] : []))
  if (joints.length === 0) return []
  const singles = joints.length > 1 && joints.length <= SINGLE_JOINTS_MAX ? joints.map((joint) => [joint]) : []
  return [joints, ...singles].map((joined) => tokenize(joinAt(text, found, joints, joined)).map((term) => term.term))
}

/** Whether others may write these two parts of a name as one: at a capital, or at `_` or `-` between letters. */
function isJoint(text: string, left: Term | undefined, right: Term): boolean {
  if (left === undefined || !/^[_-]?$/.test(text.slice(left.end, right.start))) return false
  const letters = [Array.from(left.term).at(-1), Array.from(right.term).at(0)]
  return letters.every((letter = '') => kindOf(letter.codePointAt(0) ?? 0) === LOWER)
}

/** In lower case, so that capitals do not split it. Only the joints change. */
function joinAt(text: string, found: readonly Term[], joints: readonly number[], joined: readonly number[]): string {
  return found
    .map(({ start, end }, index) => {
      const gap = joints.includes(index) ? ' ' : text.slice(found[index - 1]?.end ?? 0, start)
      return `${joined.includes(index) ? '' : gap}${text.slice(start, end).toLowerCase()}`
    })
    .join('')
}
