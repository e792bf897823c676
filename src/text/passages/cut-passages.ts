import type { Span } from './matcher.ts'

const LEAD_LENGTH_MAX = 60
const WORD_LENGTH_MAX = 24

/**
 * Extends passages by as much context as fits. A window starts at the beginning of a line if one is near, else of a word,
 * and never cuts a grapheme cluster.
 * @param passages in order, without overlap
 * @param lengthMax UTF-16 units of all windows together
 * @returns windows in order, with a gap between each two
 */
export function cutPassages(text: string, passages: readonly Span[], lengthMax: number): readonly Span[] {
  const taken = passages.reduce((sum, { start, end }) => sum + end - start, 0)
  const share = Math.max(0, Math.floor((lengthMax - taken) / Math.max(1, passages.length)))
  const windows: Span[] = []
  for (const core of passages) {
    const window = cutPassage(text, core, core.end - core.start + share, windows.at(-1)?.end ?? 0)
    if (window.end > window.start) windows.push(window)
  }
  return joinNear(windows, lengthMax)
}

/** Joins windows if the unused length is enough to fill the gap between them. */
function joinNear(windows: readonly Span[], lengthMax: number): readonly Span[] {
  let left = lengthMax - windows.reduce((sum, { start, end }) => sum + end - start, 0)
  const joined: Span[] = []
  for (const window of windows) {
    const before = joined.at(-1)
    const gap = before === undefined ? Infinity : window.start - before.end
    if (before !== undefined && gap <= left) {
      left -= gap
      joined[joined.length - 1] = { start: before.start, end: window.end }
    } else joined.push(window)
  }
  return joined
}

/** @param from end of the former window */
function cutPassage(text: string, core: Span, length: number, from: number): Span {
  const room = length - (core.end - core.start)
  const lead = Math.min(LEAD_LENGTH_MAX, Math.floor(room / 2))
  // At the end of a text, the unused length is used for the context before.
  const wanted = Math.max(from, Math.min(core.start - lead, text.length - length))
  const start = wanted <= from ? from : Math.max(from, cutStart(text, wanted, clusterStart(text, core.start), room))
  const end = Math.min(text.length, start + length)
  return { start, end: cutEnd(text, end, Math.min(end, Math.max(core.end, start + 1)), start) }
}

/**
 * Moves a cut to the beginning of its line if that fits, else to the next line or word up to `limit`, and in any case out
 * of a grapheme cluster.
 */
function cutStart(text: string, at: number, limit: number, room: number): number {
  const earliest = Math.max(0, limit - Math.floor(room * 0.75))
  const from = Math.max(0, earliest - 1)
  const lineEnd = text.slice(from, at).lastIndexOf('\n')
  if (lineEnd >= 0) return from + lineEnd + 1
  if (earliest === 0) return 0
  const nextLine = text.slice(at, limit).indexOf('\n')
  if (nextLine >= 0) return at + nextLine + 1
  const word = text.slice(at - 1, Math.min(limit + 1, at + WORD_LENGTH_MAX)).search(/\s\S/)
  if (word >= 0) return at + word
  let start = at
  while (start < limit && isInsideCluster(text, start)) start += 1
  return start
}

function clusterStart(text: string, at: number): number {
  let start = at
  while (isInsideCluster(text, start)) start -= 1
  return start
}

/** Moves a cut back to the end of a word if one is near, and out of a cluster unless the cluster fills the window. */
function cutEnd(text: string, at: number, limit: number, start: number): number {
  if (at >= text.length) return text.length
  const from = Math.max(limit, at - WORD_LENGTH_MAX)
  const space = Math.max(...[' ', '\n', '\t'].map((sign) => text.slice(from, at + 1).lastIndexOf(sign)))
  if (space >= 0) return from + space
  let end = at
  while (end > start && isInsideCluster(text, end)) end -= 1
  if (end > start) return end
  return isInsidePair(text, at) ? at - 1 : at
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
/** UTF-16 units that are examined on each side of a cut. */
const AROUND = 32

/** Whether a cut before this offset would split a grapheme cluster. */
function isInsideCluster(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return false
  // Two ASCII characters form a cluster only as CR LF, so most cuts need no segmenter.
  if (text.charCodeAt(at - 1) < 0x80 && text.charCodeAt(at) < 0x80) return text.startsWith('\r\n', at - 1)
  const from = Math.max(0, at - AROUND)
  const start = isInsidePair(text, from) ? from - 1 : from
  const cluster = segmenter.segment(text.slice(start, at + AROUND)).containing(at - start)
  return cluster !== undefined && cluster.index !== at - start
}

export function isInsidePair(text: string, at: number): boolean {
  return at > 0 && at < text.length && (text.codePointAt(at - 1) ?? 0) > 0xffff
}
