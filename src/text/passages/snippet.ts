import type { Span, TermMatch } from './matcher.ts'
import { cutPassages } from './cut-passages.ts'
import { choosePassages } from './choose-passages.ts'

const LENGTH_MAX = 240
const LEFT_OUT = '…'
const BETWEEN = ` ${LEFT_OUT} `

/**
 * The passages of a text with the found words, HTML-escaped, with the words in `<mark>`. One passage if the words are close
 * together, else up to four, each with words that the others lack.
 * @param found the matches in this text
 * @param lengthMax UTF-16 units in total before escaping, including the ellipses; at least 20
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

/** A window of a text, HTML-escaped, with the spans inside it in `<mark>`. */
function markSpans(text: string, window: Span, spans: readonly Span[]): string {
  let html = ''
  let at = window.start
  for (const span of spansWithin(spans, window)) {
    html += `${escapeHtml(text.slice(at, span.start))}<mark>${escapeHtml(text.slice(span.start, span.end))}</mark>`
    at = span.end
  }
  return html + escapeHtml(text.slice(at, window.end))
}

/** A word that the window cuts is marked only if the window has no complete one: a part of a word does not help a reader. */
function spansWithin(spans: readonly Span[], window: Span): readonly Span[] {
  const touching = spans.filter((span) => span.end > window.start && span.start < window.end)
  const whole = touching.filter((span) => span.start >= window.start && span.end <= window.end)
  const shown = (whole.length > 0 ? whole : touching)
    .map((span) => ({ start: Math.max(span.start, window.start), end: Math.min(span.end, window.end) }))
    .toSorted((a, b) => a.start - b.start)
  const merged: Span[] = []
  for (const span of shown) {
    const last = merged.at(-1)
    if (last !== undefined && span.start <= last.end) {
      merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, span.end) }
    } else merged.push(span)
  }
  return merged
}

const entities = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
])

function escapeHtml(text: string): string {
  return (
    text
      .replaceAll(/\p{Surrogate}/gu, '\ufffd')
      // Nobody searches for control characters, and they can control a terminal. Line breaks and tabs may stay.
      // oxlint-disable-next-line no-control-regex
      .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, ' ')
      .replaceAll(/[&<>"']/g, (sign) => entities.get(sign) ?? sign)
  )
}
