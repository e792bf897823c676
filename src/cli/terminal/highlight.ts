/** A piece of a text, and whether it matches the search. It may contain control characters. */
export interface Span {
  readonly text: string
  readonly isHit: boolean
}

const CHARACTERS: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** Splits a snippet, which is escaped HTML with `<mark>` around the hits, into its pieces. */
export function snippetSpans(snippet: string): Span[] {
  // A `<mark>` in the text itself is escaped, so each tag found here is a real one.
  const pieces = snippet.split(/<(\/?)mark>/)
  return pieces.flatMap((piece, index) => {
    if (index % 2 === 1 || piece === '') return []
    const text = piece.replaceAll(/&(amp|lt|gt|quot|#39);/g, (entity, name: string) => CHARACTERS[name] ?? entity)
    return [{ text, isHit: index > 0 && pieces[index - 1] === '' }]
  })
}
