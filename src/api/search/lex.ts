/** What a person typed, cut at white space and quotes. */
export type QueryToken =
  | { readonly kind: 'chunk'; readonly text: string; readonly isNegated: boolean; readonly source: string }
  | {
      readonly kind: 'quote'
      readonly text: string
      readonly isNegated: boolean
      readonly isPrefix: boolean
      readonly isClosed: boolean
      readonly source: string
    }

const openingQuote = /["“„]/
const closingQuote = /["”“]/
const chunkEnd = /[\s"“”„]/

/** Total: any string has a list of tokens. */
export function lexQuery(query: string): readonly QueryToken[] {
  const tokens: QueryToken[] = []
  let at = 0
  while (at < query.length) {
    if (/\s/.test(query.charAt(at))) {
      at += 1
      continue
    }
    const { token, end } = readToken(query, at)
    tokens.push(token)
    at = end
  }
  return tokens
}

interface Read {
  readonly token: QueryToken
  readonly end: number
}

function readToken(query: string, start: number): Read {
  // `--flag` is what people paste from a shell, not an exclusion.
  const isNegated = query.charAt(start) === '-' && /[^\s-]/.test(query.charAt(start + 1))
  const from = isNegated ? start + 1 : start
  if (openingQuote.test(query.charAt(from))) return readQuote(query, start, from, isNegated)
  const length = query.slice(from).search(chunkEnd)
  // A closing quote that nothing opened is skipped as a chunk of its own.
  const end = length < 0 ? query.length : from + Math.max(1, length)
  const token = { kind: 'chunk', text: query.slice(from, end), isNegated, source: query.slice(start, end) } as const
  return { token, end }
}

function readQuote(query: string, start: number, from: number, isNegated: boolean): Read {
  const rest = query.slice(from + 1)
  const length = rest.search(closingQuote)
  const isClosed = length >= 0
  const text = isClosed ? rest.slice(0, length) : rest
  const close = from + 1 + text.length + (isClosed ? 1 : 0)
  const isPrefix = isClosed && query.charAt(close) === '*'
  const end = close + (isPrefix ? 1 : 0)
  return { token: { kind: 'quote', text, isNegated, isPrefix, isClosed, source: query.slice(start, end) }, end }
}
