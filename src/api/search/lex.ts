/** A piece of the typed query, split at white space, quotes and parentheses. */
export type QueryToken =
  | { readonly kind: 'open' | 'close'; readonly isNegated: boolean; readonly source: string }
  | { readonly kind: 'or'; readonly source: string }
  | { readonly kind: 'chunk'; readonly text: string; readonly isNegated: boolean; readonly source: string }
  | {
      readonly kind: 'quote'
      /** The field name right before the quotation mark, such as `path`. */
      readonly field: string | null
      readonly text: string
      readonly isNegated: boolean
      readonly isPrefix: boolean
      readonly isClosed: boolean
      readonly source: string
    }

const openingQuote = /["“„]/
const closingQuote = /["”“]/
const fieldBeforeQuote = /^[a-z]+:(?=["“„])/i
// A minus excludes only at the start of a word. `--flag` and `->call()` do not exclude: people paste them from a shell or
// from code. After a closing quote or parenthesis, a minus is a minus.
const exclusion = /^[\s(]?-[^\s\->)]$/
const DEPTH_MAX = 20

/** Accepts any string. In the list of tokens every opened parenthesis is closed, and they are nested at most 20 deep. */
export function lexQuery(query: string, warnings: string[]): readonly QueryToken[] {
  const tokens: QueryToken[] = []
  let depth = 0
  let at = 0
  while (at < query.length) {
    if (/\s/.test(query.charAt(at))) {
      at += 1
      continue
    }
    if (query.charAt(at) === ')' && depth > 0) {
      if (depth <= DEPTH_MAX) tokens.push({ kind: 'close', isNegated: false, source: ')' })
      depth -= 1
      at += 1
      continue
    }
    const { token, end } = readToken(query, at, depth > 0)
    if (token.kind === 'open') depth += 1
    if (token.kind === 'open' && depth > DEPTH_MAX) {
      warnings.push(`Parentheses nested more than ${DEPTH_MAX} deep were ignored.`)
    } else tokens.push(token)
    at = end
  }
  if (depth > 0) warnings.push('A parenthesis is not closed: it was read up to the end of the query.')
  for (; depth > 0; depth -= 1) if (depth <= DEPTH_MAX) tokens.push({ kind: 'close', isNegated: false, source: '' })
  return tokens
}

interface Read {
  readonly token: QueryToken
  readonly end: number
}

function readToken(query: string, start: number, isInside: boolean): Read {
  const isNegated = exclusion.test(query.slice(Math.max(0, start - 1), start + 2))
  const from = isNegated ? start + 1 : start
  if (query.charAt(from) === '(') {
    return { token: { kind: 'open', isNegated, source: query.slice(start, from + 1) }, end: from + 1 }
  }
  const [field = ''] = fieldBeforeQuote.exec(query.slice(from, from + 20)) ?? []
  if (openingQuote.test(query.charAt(from + field.length))) return readQuote(query, { start, from, field, isNegated })
  const end = chunkEnd(query, from, isInside)
  const text = query.slice(from, end)
  if (text === 'OR' && !isNegated) return { token: { kind: 'or', source: text }, end }
  return { token: { kind: 'chunk', text, isNegated, source: query.slice(start, end) }, end }
}

/** `f(a)` is one chunk. A parenthesis that closes a group around the chunk does not belong to it. */
function chunkEnd(query: string, from: number, isInside: boolean): number {
  let own = 0
  let at = from
  for (; at < query.length; at += 1) {
    const character = query.charAt(at)
    if (/[\s"“”„]/.test(character)) break
    if (character === '(') own += 1
    if (character !== ')') continue
    if (isInside && own === 0) break
    own = Math.max(0, own - 1)
  }
  // A closing quote without an opening one becomes a chunk of its own.
  return Math.max(at, from + 1)
}

interface QuoteStart {
  readonly start: number
  readonly from: number
  readonly field: string
  readonly isNegated: boolean
}

function readQuote(query: string, { start, from, field, isNegated }: QuoteStart): Read {
  const open = from + field.length
  const rest = query.slice(open + 1)
  const length = rest.search(closingQuote)
  const isClosed = length >= 0
  const text = isClosed ? rest.slice(0, length) : rest
  const close = open + 1 + text.length + (isClosed ? 1 : 0)
  const isPrefix = isClosed && query.charAt(close) === '*'
  const end = close + (isPrefix ? 1 : 0)
  const source = query.slice(start, end)
  const name = field === '' ? null : field.slice(0, -1)
  return { token: { kind: 'quote', field: name, text, isNegated, isPrefix, isClosed, source }, end }
}

/** Characters of a typed text that a warning repeats. */
const ECHO_LENGTH_MAX = 40

/** A typed text in quotation marks, shortened for a warning. */
export function echo(source: string): string {
  const short = Array.from(source).slice(0, ECHO_LENGTH_MAX).join('')
  return `"${short}${short.length < source.length ? '…' : ''}"`
}

const MONTHS = 'january february march april may june july august september october november december'.split(' ')
const DAYS = 'monday|tuesday|wednesday|thursday|friday|saturday|sunday'
const dateInWords = new RegExp(
  String.raw`\b(?:(today|yesterday|(?:last|this) (?:week|month|year)|last (?:${DAYS}))|on (${DAYS})|in (${MONTHS.join('|')})(?: (\d{4}))?)\b`,
  'i',
)

/** A date as a sentence has it. */
export interface DateInWords {
  readonly words: readonly string[]
  /** The value for `on:`. @param month the present one, as `2026-03` */
  readonly valueAt: (month: string) => string
}

/** The first date in a text of words: `yesterday`, `last week`, `on Monday`, `in June`. Null if there is none. */
export function findDate(text: string): DateInWords | null {
  const [typed, named, day, month, year] = dateInWords.exec(text) ?? []
  if (typed === undefined) return null
  const number = String(MONTHS.indexOf(month?.toLowerCase() ?? '') + 1).padStart(2, '0')
  const valueAt = (present: string): string => {
    if (month === undefined) return (named ?? day ?? '').toLowerCase()
    const thisYear = Number(present.slice(0, 4))
    return `${year ?? (number > present.slice(5) ? thisYear - 1 : thisYear)}-${number}`
  }
  return { words: typed.split(' '), valueAt }
}
