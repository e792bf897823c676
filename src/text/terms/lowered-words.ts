import { BREAK, EMOJI, IGNORED, kindOf, MARK, UNSPACED, UNSPACED_MARK } from './signs.ts'
import { asciiKinds, isHump } from './word-parts.ts'

/** Separates words that are not neighbours, so that no phrase matches across. A private-use character. */
export const GAP_TERM = '\ue000'

/**
 * Calls `visit` with the lower-case spellings of each ASCII word in camel case. `JavaScript` is indexed as `java script`,
 * but users also type `javascript`, so the index contains both.
 * @param from and `to` are ends of the text, or positions of an ASCII character that separates words
 */
export function visitLoweredWords(
  text: string,
  visit: (lowered: string, start: number, end: number) => void,
  from = 0,
  to = text.length,
): void {
  let at = from
  while (at < to) {
    const end = wordEnd(text, at)
    if (end - at > 1 && hasHump(text, at, end) && isWholeWord(text, at, end))
      for (const lowered of lowerSpellings(text.slice(at, end))) visit(lowered, at, end)
    at = end === at ? at + 1 : end
  }
}

/**
 * A camel-case word in one piece. If it has several capitals before a small letter, also in pieces that begin only after
 * small letters: `isIPv6` is split into `is i pv 6`, but others write `is_ipv6`.
 */
export function lowerSpellings(word: string): readonly string[] {
  const whole = word.toLowerCase()
  if (!/[A-Z]{2}[a-z]/.test(word)) return [whole]
  const parted = word.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()
  return parted === whole ? [whole] : [whole, parted]
}

function wordEnd(text: string, from: number): number {
  let end = from
  while (end < text.length && kindAt(text, end) !== BREAK) end += 1
  return end
}

/** Whether the word has only ASCII characters. Other words get no lower-case spelling. */
function isWholeWord(text: string, start: number, end: number): boolean {
  // A mark belongs to the character before it in any script, so it does not separate words. The same is true for a
  // variation selector that makes an emoji of a plain character: `⚠️GitHub`.
  let before = signBefore(text, start)
  while (before >= 0 && isMark(kindOf(text.codePointAt(before) ?? 0))) before = signBefore(text, before)
  return isApart(text, before) && isApart(text, end)
}

const isMark = (kind: number): boolean => kind === MARK || kind === UNSPACED_MARK || kind === IGNORED

/** Start of the character that ends at this offset; less than 0 if there is none. */
const signBefore = (text: string, at: number): number =>
  at > 1 && (text.codePointAt(at - 2) ?? 0) > 0xffff ? at - 2 : at - 1

/** Unspaced scripts have no blanks around names: `GitHub로`, `用GitHub登录`. */
function isApart(text: string, at: number): boolean {
  if (at < 0 || at >= text.length) return true
  const kind = kindOf(text.codePointAt(at) ?? 0)
  return kind === BREAK || kind === UNSPACED || kind === EMOJI
}

const kindAt = (text: string, at: number): number => asciiKinds[text.charCodeAt(at)] ?? BREAK

function hasHump(text: string, start: number, end: number): boolean {
  let before = kindAt(text, start)
  for (let at = start + 1; at < end; at += 1) {
    const kind = kindAt(text, at)
    if (isHump(before, kind, at + 1 < end ? kindAt(text, at + 1) : BREAK)) return true
    before = kind
  }
  return false
}
