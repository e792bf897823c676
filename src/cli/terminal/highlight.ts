/** A piece of a text, and whether it matches the search. It may contain control characters. */
export interface Span {
  readonly text: string
  readonly isHit: boolean
}

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function unescapeHtml(html: string): string {
  return html.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos));/gi, (entity, decimal, hex, name) => {
    if (typeof name === 'string') return named[name.toLowerCase()] ?? entity
    const point = typeof decimal === 'string' ? Number(decimal) : Number.parseInt(String(hex), 16)
    return point <= 0x10_ff_ff ? String.fromCodePoint(point) : entity
  })
}

/** Splits a snippet, which is escaped HTML with `<mark>` around the hits, into its pieces. */
export function snippetSpans(snippet: string): Span[] {
  const spans: Span[] = []
  let isHit = false
  // A `<mark>` in the text itself is escaped, so each tag found here is a real one.
  for (const piece of snippet.split(/(<\/?mark>)/)) {
    if (piece === '<mark>') isHit = true
    else if (piece === '</mark>') isHit = false
    else if (piece !== '') spans.push({ text: unescapeHtml(piece), isHit })
  }
  return spans
}
