import type { Span, TermMatch, TermMatcher } from './matcher.ts'

const LEAD_LENGTH_MAX = 60
const WORD_LENGTH_MAX = 24

/**
 * The passage of a text that holds most of what was looked for, HTML-escaped, the found words in `<mark>`.
 * @param maxLength UTF-16 units of the original shown, before escaping
 */
export function makeSnippet(text: string, matches: TermMatcher, maxLength = 240): string {
  const found = matches.find(text)
  const window = chooseWindow(text, found, maxLength)
  const marked = markSpans(text, window, spansWithin(found, window))
  return `${window.start > 0 ? '…' : ''}${marked}${window.end < text.length ? '…' : ''}`
}

function chooseWindow(text: string, found: readonly TermMatch[], maxLength: number): Span {
  if (text.length <= maxLength) return { start: 0, end: text.length }
  const core = bestPassage(found, maxLength)
  const room = maxLength - (core.end - core.start)
  const wanted = Math.max(0, core.start - Math.min(LEAD_LENGTH_MAX, Math.floor(room / 2)))
  const start = cutStart(text, Math.min(wanted, text.length - maxLength), core.start)
  return { start, end: cutEnd(text, Math.min(text.length, start + maxLength), Math.max(core.end, start + 1)) }
}

/** The stretch with the most different phrases, then the most matches, then the earliest. */
function bestPassage(found: readonly TermMatch[], maxLength: number): Span {
  const spans = found
    .map((match) => ({ phrase: match.phrase, start: match.spans[0]?.start ?? 0, end: match.spans.at(-1)?.end ?? 0 }))
    .toSorted((a, b) => a.start - b.start)
  const counts = new Map<number, number>()
  let best: { start: number; end: number; distinct: number; count: number } | null = null
  let first = 0
  for (const [last, span] of spans.entries()) {
    counts.set(span.phrase, (counts.get(span.phrase) ?? 0) + 1)
    for (let head = spans[first]; head !== undefined && head !== span; head = spans[first]) {
      if (span.end - head.start <= maxLength) break
      removeOne(counts, head.phrase)
      first += 1
    }
    const count = last - first + 1
    const isBetter =
      best === null || counts.size > best.distinct || (counts.size === best.distinct && count > best.count)
    if (isBetter) best = { start: spans[first]?.start ?? 0, end: span.end, distinct: counts.size, count }
  }
  if (best === null) return { start: 0, end: 0 }
  return { start: best.start, end: Math.min(best.end, best.start + maxLength) }
}

function removeOne(counts: Map<number, number>, phrase: number): void {
  const count = counts.get(phrase) ?? 0
  if (count <= 1) counts.delete(phrase)
  else counts.set(phrase, count - 1)
}

/** Moves a cut forward to the start of a word, where one is near, and out of a cluster in any case. */
function cutStart(text: string, at: number, limit: number): number {
  if (at <= 0) return 0
  const word = text.slice(at - 1, Math.min(limit, at + WORD_LENGTH_MAX)).search(/\s\S/)
  if (word >= 0) return at + word
  let start = at
  while (start < limit && isInsideCluster(text, start)) start += 1
  return start
}

/** Moves a cut back to the end of a word, where one is near, and out of a cluster in any case. */
function cutEnd(text: string, at: number, limit: number): number {
  if (at >= text.length) return text.length
  const from = Math.max(limit, at - WORD_LENGTH_MAX)
  const space = Math.max(...[' ', '\n', '\t'].map((sign) => text.slice(from, at + 1).lastIndexOf(sign)))
  if (space >= 0) return from + space
  let end = at
  while (end > limit && isInsideCluster(text, end)) end -= 1
  // A cluster that fills the whole passage is shown whole, unless its marks pile up without end.
  const farthest = Math.min(text.length, end + WORD_LENGTH_MAX)
  while (end < farthest && isInsideCluster(text, end)) end += 1
  return isInsidePair(text, end) ? end - 1 : end
}

const joiningSign = /\p{M}|\p{Emoji_Modifier}|\u200d/u

function isInsideCluster(text: string, at: number): boolean {
  if (at >= text.length) return false
  if (isInsidePair(text, at) || text.charCodeAt(at - 1) === 0x200d) return true
  return joiningSign.test(String.fromCodePoint(text.codePointAt(at) ?? 0))
}

function isInsidePair(text: string, at: number): boolean {
  return at > 0 && at < text.length && (text.codePointAt(at - 1) ?? 0) > 0xffff
}

function spansWithin(found: readonly TermMatch[], window: Span): readonly Span[] {
  const inside = found
    .flatMap((match) => match.spans)
    .filter((span) => span.end > window.start && span.start < window.end)
    .map((span) => ({ start: Math.max(span.start, window.start), end: Math.min(span.end, window.end) }))
    .toSorted((a, b) => a.start - b.start)
  const merged: Span[] = []
  for (const span of inside) {
    const last = merged.at(-1)
    if (last !== undefined && span.start <= last.end) {
      merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, span.end) }
    } else merged.push(span)
  }
  return merged
}

function markSpans(text: string, window: Span, spans: readonly Span[]): string {
  let html = ''
  let at = window.start
  for (const span of spans) {
    html += `${escapeHtml(text.slice(at, span.start))}<mark>${escapeHtml(text.slice(span.start, span.end))}</mark>`
    at = span.end
  }
  return html + escapeHtml(text.slice(at, window.end))
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
      // Control characters are searched for by nobody and can steer a terminal; line breaks and tabs may stay.
      // oxlint-disable-next-line no-control-regex
      .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, ' ')
      .replaceAll(/[&<>"']/g, (sign) => entities.get(sign) ?? sign)
  )
}
