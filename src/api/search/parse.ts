import { isUnspacedSign, tokenize } from '../../text/terms.ts'
import { TERM_LENGTH_MAX } from '../../text/word-parts.ts'
import { lexQuery, type QueryToken } from './lex.ts'

/** Terms that must stand side by side, as a person typed them: a word with its parts, or a quoted phrase. */
export interface TermsNode {
  readonly kind: 'word' | 'phrase'
  readonly terms: readonly string[]
  /** What the same characters come to without their capitals, where that differs: `JavaScript` means `javascript` too. */
  readonly lowered: readonly string[] | null
  /** The last term may be the beginning of a longer one. */
  readonly isPrefix: boolean
}

/** What a message can hold. */
export type WantedNode = TermsNode | { readonly kind: 'and'; readonly nodes: readonly WantedNode[] }

export type QueryNode = WantedNode | { readonly kind: 'not'; readonly node: WantedNode }

/** One thing asked for, beside the characters that asked for it. */
export interface Clause {
  readonly node: QueryNode
  readonly source: string
}

export interface ParsedQuery {
  /** All of them must hold. Empty where there is nothing to search for. */
  readonly clauses: readonly Clause[]
  readonly warnings: readonly string[]
}

/** UTF-16 units of a query that are looked at. */
const QUERY_LENGTH_MAX = 10_000
const TERMS_MAX = 32

/** Where a pasted name is cut in an echo of it. */
const ECHO_LENGTH_MAX = 40

// What holds the parts of one identifier, path or contraction together; all else parts words.
const wordPiece =
  /(?:[\p{L}\p{M}\p{N}\p{Extended_Pictographic}\p{Regional_Indicator}\u00ad\u2060\ufeff_\-./\\:@#$+'’%]|\u200c|\u200d)+/gu

/**
 * Reads a query. Total: any string has a meaning; what could not be taken as meant stands in `warnings`.
 * At most 32 terms of at most 64 UTF-16 units each.
 */
export function parseQuery(query: string): ParsedQuery {
  const warnings: string[] = []
  // A lone surrogate is no character, and NUL would end the text inside SQLite.
  const clean = query.replaceAll('\u0000', ' ').replaceAll(/\p{Surrogate}/gu, '\ufffd')
  if (clean.length > QUERY_LENGTH_MAX) warnings.push(`Only the first ${QUERY_LENGTH_MAX} characters were searched for.`)
  const clauses = lexQuery(clean.slice(0, QUERY_LENGTH_MAX)).flatMap((token) => readClause(token, warnings))
  const kept = capTerms(clauses, warnings)
  return { clauses: kept, warnings: [...new Set(warnings)] }
}

/** Written like an operator of the search language that is not served yet: taken as words, and said so. */
const operator = /^(?:(?:project|role|in|tool|model|mode|path|chat|before|after|on|is|has):.+|OR)$/s

function readClause(token: QueryToken, warnings: string[]): readonly Clause[] {
  if (token.kind !== 'quote' && operator.test(token.text)) {
    warnings.push(`${echo(token.text)} was searched for as words: operators are not served yet.`)
  }
  const nodes = token.kind === 'quote' ? readQuote(token, warnings) : readChunk(token.text, warnings)
  const [first] = nodes
  if (first === undefined) {
    if (!/^["“”„]$/.test(token.source)) warnings.push(`${echo(token.source)} holds no word to search for.`)
    return []
  }
  if (token.isNegated) {
    const node: WantedNode = nodes.length === 1 ? first : { kind: 'and', nodes }
    return [{ node: { kind: 'not', node }, source: token.source }]
  }
  return nodes.length === 1
    ? [{ node: first, source: token.source }]
    : nodes.map(({ source, ...node }) => ({ node, source }))
}

interface SourcedTerms extends TermsNode {
  readonly source: string
}

function readQuote(token: QueryToken & { kind: 'quote' }, warnings: string[]): readonly SourcedTerms[] {
  if (!token.isClosed) warnings.push('A quotation mark is not closed: all that follows it was taken as one phrase.')
  const node = readTerms('phrase', token.text, token.isPrefix, token.source, warnings)
  return node === null ? [] : [node]
}

function readChunk(chunk: string, warnings: string[]): readonly SourcedTerms[] {
  const nodes: SourcedTerms[] = []
  for (const match of chunk.matchAll(wordPiece)) {
    const [piece] = match
    const end = match.index + piece.length
    if (chunk.charAt(match.index - 1) === '*') {
      warnings.push(`The * before ${echo(piece)} was ignored: a word is found by its beginning only.`)
    }
    const isStarred = /^\*(?![\p{L}\p{M}\p{N}])/u.test(chunk.slice(end, end + 3)) && /[\p{L}\p{M}\p{N}]$/u.test(piece)
    const node = readTerms('word', piece, isStarred, isStarred ? `${piece}*` : piece, warnings)
    if (node !== null) nodes.push(node)
  }
  return nodes
}

function readTerms(
  kind: TermsNode['kind'],
  text: string,
  isStarred: boolean,
  source: string,
  warnings: string[],
): SourcedTerms | null {
  const found = tokenize(text)
  const last = found.at(-1)
  if (last === undefined) return null
  if (found.some((term) => term.term.length >= TERM_LENGTH_MAX && term.end - term.start > TERM_LENGTH_MAX)) {
    warnings.push(`${echo(source)} was cut: only the first ${TERM_LENGTH_MAX} characters of a word count.`)
  }
  const terms = found.map((term) => term.term)
  if (isUnspacedSign(last.term)) {
    // In the index a sign mostly stands as the start of a pair. Behind its own pair it adds nothing.
    const before = found.at(-2)
    const isCovered = before !== undefined && before.end > last.start
    return isCovered
      ? { kind, terms: terms.slice(0, -1), lowered: null, isPrefix: false, source }
      : { kind, terms, lowered: null, isPrefix: true, source }
  }
  // One letter begins so many words that the search would visit most of the index.
  const isTooShort = isStarred && /^[a-z\d]$/.test(last.term)
  if (isTooShort)
    warnings.push(`${echo(source)} was searched for as a whole word: its last part is a single character.`)
  return { kind, terms, lowered: loweredTerms(text, terms), isPrefix: isStarred && !isTooShort, source }
}

function loweredTerms(text: string, terms: readonly string[]): readonly string[] | null {
  const lowered = tokenize(text.toLowerCase()).map((term) => term.term)
  return lowered.length === terms.length ? null : lowered
}

function capTerms(clauses: readonly Clause[], warnings: string[]): readonly Clause[] {
  let left = TERMS_MAX
  const kept: Clause[] = []
  for (const clause of clauses) {
    const node = capNode(clause.node, left)
    if (node !== null) kept.push({ ...clause, node })
    left -= countTerms(clause.node)
    if (left >= 0) continue
    warnings.push(`Only the first ${TERMS_MAX} words were searched for.`)
    break
  }
  return kept
}

function countTerms(node: QueryNode): number {
  if (node.kind === 'not') return countTerms(node.node)
  if (node.kind === 'and') return node.nodes.reduce((sum, each) => sum + countTerms(each), 0)
  return node.terms.length
}

function capNode(node: QueryNode, left: number): QueryNode | null {
  if (countTerms(node) <= left) return node
  // Half of an exclusion would exclude more than was asked for.
  if (left <= 0 || node.kind === 'not' || node.kind === 'and') return null
  return { ...node, terms: node.terms.slice(0, left), lowered: null, isPrefix: false }
}

function echo(source: string): string {
  const short = Array.from(source).slice(0, ECHO_LENGTH_MAX).join('')
  return `"${short}${short.length < source.length ? '…' : ''}"`
}
