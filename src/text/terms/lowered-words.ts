import { BREAK, EMOJI, IGNORED, kindOf, MARK, UNSPACED, UNSPACED_MARK } from './signs.ts'
import { asciiKinds, isHump } from './word-parts.ts'

/** Stands between words that are not neighbours, so that no phrase reaches across. A private-use sign. */
export const GAP_TERM = '\ue000'

/**
 * Calls `visit` with the lower-case spellings of each ASCII word that has humps. `JavaScript` falls into `java script`,
 * and whoever types `javascript` means it all the same: the index holds both.
 * @param from and `to` are ends of the text, or stand where an ASCII sign parts words
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
 * A word with humps in one piece and, where several capitals stand before a small letter, in the pieces that begin
 * behind small letters only: `isIPv6` falls into `is i pv 6`, and others write `is_ipv6`.
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

/** A word that goes on beyond ASCII is left as it is. */
function isWholeWord(text: string, start: number, end: number): boolean {
  // A mark belongs to the sign before it, whatever its script: a word that it follows is not over. So does what makes an
  // emoji of a plain sign: `⚠️GitHub`.
  let before = signBefore(text, start)
  while (before >= 0 && isMark(kindOf(text.codePointAt(before) ?? 0))) before = signBefore(text, before)
  return isApart(text, before) && isApart(text, end)
}

const isMark = (kind: number): boolean => kind === MARK || kind === UNSPACED_MARK || kind === IGNORED

/** Where the sign begins that ends here; less than 0 where there is none. */
const signBefore = (text: string, at: number): number =>
  at > 1 && (text.codePointAt(at - 2) ?? 0) > 0xffff ? at - 2 : at - 1

/** Unspaced scripts have no blanks around the names that they hold: `GitHub로`, `用GitHub登录`. */
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
