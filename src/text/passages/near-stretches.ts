import { BREAK } from '../terms/signs.ts'
import { asciiKinds } from '../terms/word-parts.ts'

/** UTF-16 offsets, end exclusive. It begins and ends at the text's ends or at an ASCII character that separates words. */
export interface Stretch {
  readonly start: number
  readonly end: number
}

/** With more search texts than this, splitting the whole text into terms is cheaper. */
const NEEDLES_MAX = 16

/**
 * The stretches of a text that may contain one of these terms, so the rest need not be split into terms. These are words
 * that contain a term, ignoring case, and words with non-ASCII characters, because their terms differ from their spelling.
 * In order, without overlap.
 * @param terms in lower case
 * @param wordsBefore how many words before each match belong to its stretch
 */
export function nearStretches(text: string, terms: readonly string[], wordsBefore: number): readonly Stretch[] {
  const lowered = text.toLowerCase()
  // A few characters have a lower case of another length. After such a character all offsets would be wrong.
  if (terms.length > NEEDLES_MAX || lowered.length !== text.length) return [{ start: 0, end: text.length }]
  const seekers = terms.map((term) => (from: number) => asOffset(lowered.indexOf(term, from)))
  // Counting the bytes is much faster than looking at each character.
  if (Buffer.byteLength(text) > text.length) seekers.push(seekBeyondAscii(text))
  const heads = seekers.map((seek) => seek(0))
  const stretches: Stretch[] = []
  for (let at = Math.min(...heads); at < Infinity; at = Math.min(...heads)) {
    const last = stretches.at(-1)
    const start = startBefore(text, at, wordsBefore, last?.end ?? 0)
    const end = wordEnd(text, at)
    if (last !== undefined && start <= last.end) stretches[stretches.length - 1] = { start: last.start, end }
    else stretches.push({ start, end })
    for (const [index, head] of heads.entries()) if (head < end) heads[index] = seekers[index]?.(end) ?? Infinity
  }
  return stretches
}

function seekBeyondAscii(text: string): (from: number) => number {
  const beyondAscii = /[^\0-\u007f]/g
  return (from) => {
    beyondAscii.lastIndex = from
    return beyondAscii.exec(text)?.index ?? Infinity
  }
}

const asOffset = (index: number): number => (index < 0 ? Infinity : index)

const isBreak = (text: string, at: number): boolean => asciiKinds[text.charCodeAt(at)] === BREAK

/** @param from end of the former stretch; text before it is not examined */
function startBefore(text: string, at: number, words: number, from: number): number {
  let start = at
  for (let left = words; ; left -= 1) {
    while (start > from && !isBreak(text, start - 1)) start -= 1
    if (left === 0 || start === from) return start
    while (start > from && isBreak(text, start - 1)) start -= 1
  }
}

function wordEnd(text: string, at: number): number {
  let end = at + 1
  while (end < text.length && !isBreak(text, end)) end += 1
  return end
}
