const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
/** UTF-16 units looked at on each side of a cut. */
const AROUND = 32

/** Whether a cut before this offset would part what is drawn as one sign. */
export function isInsideCluster(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return false
  // Of two ASCII signs only a line end is one: most cuts need no segmenter.
  if (text.charCodeAt(at - 1) < 0x80 && text.charCodeAt(at) < 0x80) return text.startsWith('\r\n', at - 1)
  const from = Math.max(0, at - AROUND)
  const start = isInsidePair(text, from) ? from - 1 : from
  const cluster = segmenter.segment(text.slice(start, at + AROUND)).containing(at - start)
  return cluster !== undefined && cluster.index !== at - start
}

export function isInsidePair(text: string, at: number): boolean {
  return at > 0 && at < text.length && (text.codePointAt(at - 1) ?? 0) > 0xffff
}
