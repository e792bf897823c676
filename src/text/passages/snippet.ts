import { addSpan, type Span, type TermMatch } from './matcher.ts'

/** UTF-16 units, before escaping. */
const LENGTH_MAX = 240
const LEFT_OUT = '…'
const BETWEEN = ` ${LEFT_OUT} `
const PASSAGES_MAX = 4
/** UTF-16 units of context around the words of each of several passages. */
const CONTEXT_LENGTH = 24
const LEAD_LENGTH_MAX = 60
/** A cut is moved to the end of a word if that is so near. */
const WORD_LENGTH_MAX = 24

/**
 * The passages of a text with the found words, HTML-escaped, with the words in `<mark>`. One passage if the words are close
 * together, else up to four, each with words that the others lack.
 * @param found the matches in this text
 * @param lengthMax UTF-16 units in total before escaping, including the ellipses; at least 20
 */
export function makeSnippet(text: string, found: readonly TermMatch[], lengthMax = LENGTH_MAX): string {
  const windows = text.length <= lengthMax ? [{ start: 0, end: text.length }] : chooseWindows(text, found, lengthMax)
  const spans = found.flatMap((match) => match.spans)
  const html = windows.map((window) => markSpans(text, window, spans)).join(BETWEEN)
  const isFromStart = (windows[0]?.start ?? 0) === 0
  const isToEnd = (windows.at(-1)?.end ?? text.length) === text.length
  return `${isFromStart ? '' : LEFT_OUT}${html}${isToEnd ? '' : LEFT_OUT}`
}

function chooseWindows(text: string, found: readonly TermMatch[], lengthMax: number): readonly Span[] {
  const length = lengthMax - 2 * LEFT_OUT.length
  const passages = choosePassages(found, length)
  const words = passages.reduce((sum, { start, end }) => sum + end - start, 0)
  const room = Math.max(0, Math.floor((length - words - (passages.length - 1) * BETWEEN.length) / passages.length))
  const windows: Span[] = []
  for (const passage of passages) {
    const window = windowAround(text, passage, room, windows.at(-1)?.end ?? 0)
    if (window.end > window.start) addSpan(windows, window)
  }
  return windows
}

interface Place extends Span {
  readonly word: number
}

/**
 * As few passages as possible with the most different words, in order and without overlap. If nothing was found, the
 * beginning of the text.
 * @param lengthMax UTF-16 units of all passages, including some context
 */
function choosePassages(found: readonly TermMatch[], lengthMax: number): readonly Span[] {
  const places = found
    .map(({ word, spans }): Place => ({ word, start: spans[0]?.start ?? 0, end: spans.at(-1)?.end ?? 0 }))
    .toSorted((a, b) => a.start - b.start)
  const wordCount = new Set(places.map(({ word }) => word)).size
  let best = { passages: [{ start: 0, end: 0 }] as readonly Span[], words: 0 }
  for (let count = 1; count <= PASSAGES_MAX && best.words < wordCount; count += 1) {
    const length = count === 1 ? lengthMax : Math.floor(lengthMax / count) - CONTEXT_LENGTH
    if (count > 1 && length < CONTEXT_LENGTH) break
    const passages: Span[] = []
    const covered = new Set<number>()
    while (passages.length < count) {
      const left = places.filter(
        ({ word, start, end }) => !covered.has(word) && !passages.some((one) => start < one.end && end > one.start),
      )
      const passage = bestPassage(left, length)
      if (passage === null) break
      passages.push(passage)
      for (const { word, start, end } of places) if (start >= passage.start && end <= passage.end) covered.add(word)
      for (const word of passage.words) covered.add(word)
    }
    if (covered.size > best.words) best = { passages, words: covered.size }
  }
  return best.passages.toSorted((a, b) => a.start - b.start)
}

interface Passage extends Span {
  readonly words: readonly number[]
}

/** The passage with the most different words, then with the most matches, then the earliest. */
function bestPassage(places: readonly Place[], lengthMax: number): Passage | null {
  const counts = new Map<number, number>()
  let best: (Passage & { readonly count: number }) | null = null
  let first = 0
  for (const [last, place] of places.entries()) {
    counts.set(place.word, (counts.get(place.word) ?? 0) + 1)
    for (let head = places[first]; head !== undefined && head !== place; head = places[first]) {
      if (place.end - head.start <= lengthMax) break
      const left = (counts.get(head.word) ?? 1) - 1
      if (left === 0) counts.delete(head.word)
      else counts.set(head.word, left)
      first += 1
    }
    const count = last - first + 1
    const known = best?.words.length ?? 0
    if (counts.size > known || (counts.size === known && count > (best?.count ?? 0)))
      best = { start: places[first]?.start ?? 0, end: place.end, words: [...counts.keys()], count }
  }
  return best === null ? null : { ...best, end: Math.min(best.end, best.start + Math.max(1, lengthMax)) }
}

/**
 * A passage with so much context. It begins at the beginning of a line if one is near, else of a word, and cuts no
 * grapheme cluster unless that fills the window.
 * @param from end of the former window
 */
function windowAround(text: string, passage: Span, room: number, from: number): Span {
  const length = passage.end - passage.start + room
  // At the end of a text, the unused length is used for the context before.
  const wanted = Math.min(passage.start - Math.min(LEAD_LENGTH_MAX, Math.floor(room / 2)), text.length - length)
  const earliest = Math.max(from, passage.start - Math.floor(room * 0.75))
  const start = wanted <= from ? from : Math.max(from, startNear(text, wanted, earliest, passage.start))
  const end = Math.min(text.length, start + length)
  return { start, end: endNear(text, end, Math.max(start + 1, passage.end), start) }
}

function startNear(text: string, at: number, earliest: number, limit: number): number {
  const line = text.lastIndexOf('\n', at - 1) + 1
  if (line > 0 ? line >= earliest : earliest === 0) return line
  const next = text.slice(at, limit).indexOf('\n')
  if (next >= 0) return at + next + 1
  const word = text.slice(at - 1, Math.min(limit + 1, at + WORD_LENGTH_MAX)).search(/\s\S/)
  return word >= 0 ? at + word : clusterStart(text, at)
}

function endNear(text: string, at: number, least: number, start: number): number {
  if (at >= text.length) return at
  const from = Math.max(least, at - WORD_LENGTH_MAX)
  const space = text.slice(from, at + 1).search(/\s\S*$/)
  if (space >= 0) return from + space
  const end = clusterStart(text, at)
  return end > start ? end : at - Number((text.codePointAt(at - 1) ?? 0) > 0xffff)
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
/** UTF-16 units that are examined on each side of a cut. */
const AROUND = 32

/** The start of the grapheme cluster that contains this offset. */
function clusterStart(text: string, at: number): number {
  const from = Math.max(0, at - AROUND)
  // A half of a surrogate pair would count as a character.
  const start = from > 0 && (text.codePointAt(from - 1) ?? 0) > 0xffff ? from - 1 : from
  const cluster = segmenter.segment(text.slice(start, at + AROUND)).containing(at - start)
  return cluster === undefined ? at : start + cluster.index
}

/**
 * A window of a text, HTML-escaped, with the spans inside it in `<mark>`. A word that the window cuts is marked only if the
 * window has no complete one: a part of a word does not help a reader.
 */
function markSpans(text: string, window: Span, spans: readonly Span[]): string {
  const touching = spans.filter(({ start, end }) => end > window.start && start < window.end)
  const whole = touching.filter(({ start, end }) => start >= window.start && end <= window.end)
  const shown = (whole.length > 0 ? whole : touching).toSorted((a, b) => a.start - b.start)
  const marked: Span[] = []
  for (const { start, end } of shown)
    addSpan(marked, { start: Math.max(start, window.start), end: Math.min(end, window.end) })
  let html = ''
  let at = window.start
  for (const { start, end } of marked) {
    html += `${escapeHtml(text.slice(at, start))}<mark>${escapeHtml(text.slice(start, end))}</mark>`
    at = end
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
      // Nobody searches for control characters, and they can control a terminal. Line breaks and tabs may stay.
      // oxlint-disable-next-line no-control-regex
      .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, ' ')
      .replaceAll(/[&<>"']/g, (sign) => entities.get(sign) ?? sign)
  )
}
