import type { Span, TermMatch } from './matcher.ts'
import { markSpans } from './mark-spans.ts'
import { cutPassages } from './cut-passages.ts'
import { choosePassages } from './choose-passages.ts'

const LENGTH_MAX = 240
const LEFT_OUT = '…'
const BETWEEN = ` ${LEFT_OUT} `

/**
 * The passages of a text that hold what was looked for, HTML-escaped, the found words in `<mark>`: one where the words
 * stand near each other, else up to four, each with words that the others lack.
 * @param found what a matcher finds in this text
 * @param lengthMax UTF-16 units shown in all, before escaping, the signs of what is left out among them; at least 20
 */
export function makeSnippet(text: string, found: readonly TermMatch[], lengthMax = LENGTH_MAX): string {
  const windows = chooseWindows(text, found, lengthMax)
  const spans = found.flatMap((match) => match.spans)
  const html = windows.map((window) => markSpans(text, window, spans)).join(BETWEEN)
  const isFromStart = (windows[0]?.start ?? 0) === 0
  const isToEnd = (windows.at(-1)?.end ?? text.length) === text.length
  return `${isFromStart ? '' : LEFT_OUT}${html}${isToEnd ? '' : LEFT_OUT}`
}

function chooseWindows(text: string, found: readonly TermMatch[], lengthMax: number): readonly Span[] {
  if (text.length <= lengthMax) return [{ start: 0, end: text.length }]
  const room = lengthMax - 2 * LEFT_OUT.length
  const passages = choosePassages(found, room)
  return cutPassages(text, passages, room - (passages.length - 1) * BETWEEN.length)
}
