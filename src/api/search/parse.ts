import { roles } from '../../model/message.ts'
import { beginsLikeJson, withoutOrders } from '../../text/passages/stretches.ts'
import { editDistance } from '../../text/nearest-name.ts'
import { isUnspacedSign, tokenize, TERM_LENGTH_MAX } from '../../text/terms/terms.ts'
import { readPeriod } from '../periods.ts'
import {
  allOf,
  anyOf,
  fieldNames,
  noneOf,
  partNames,
  type FieldName,
  type FieldNode,
  type QueryNode,
  type WordsNode,
} from './query.ts'

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

export interface ParsedQuery {
  /** Null if there is nothing to search for. */
  readonly tree: QueryNode | null
  /** Nodes that were in quotation marks. */
  readonly quoted: ReadonlySet<QueryNode>
  readonly warnings: readonly string[]
  /** The query in this language, if operators or fields of another one were read as words; else null. */
  readonly meant: string | null
}

/** How many UTF-16 units of a query are read. */
const QUERY_LENGTH_MAX = 10_000
/** How many values of fields are read. */
const VALUES_MAX = 32

/**
 * Parses a query. Any string has a meaning; `warnings` says what could not be read as intended. Limits: 32 terms of at
 * most 64 UTF-16 units each, 32 values of fields, and parentheses 20 deep. `OR` binds weaker than adjacency.
 */
export function parseQuery(query: string): ParsedQuery {
  const warnings: string[] = []
  // A copy from a terminal is cleaned in the same way as for the index.
  const clean = cleaned(withoutOrders(query))
  if (clean.length > QUERY_LENGTH_MAX) warnings.push(`Only the first ${QUERY_LENGTH_MAX} characters were searched for.`)
  const tokens = lexQuery(clean.slice(0, QUERY_LENGTH_MAX), warnings)
  const reader: Reader = {
    tokens,
    at: 0,
    quoted: new Set(),
    warnings,
    budget: { terms: TERMS_MAX, values: VALUES_MAX },
    isExcluded: false,
  }
  const meant = beginsLikeJson(clean) ? null : meantInstead(tokens, warnings)
  const tree = readAlternatives(reader)
  return { tree, quoted: reader.quoted, warnings: [...new Set(warnings)], meant }
}

/** What other programs call a field. */
const elsewhere: Readonly<Record<string, (value: string) => string>> = {
  title: (value) => `(in:title ${value})`,
  subject: (value) => `(in:title ${value})`,
  author: () => 'role:user',
  by: () => 'role:user',
  file: (value) => `path:${value}`,
  repo: (value) => `project:${value}`,
  from: (value) => `after:${value}`,
  since: (value) => `after:${value}`,
  to: (value) => `before:${value}`,
  until: (value) => `before:${value}`,
}
/** A date seldom follows such a name in code. Anything else often does. */
const dateNames: ReadonlySet<string> = new Set(['from', 'since', 'to', 'until'])

/** The query with our own operators for those of other languages; null if it has none of them. Warns of each one. */
function meantInstead(tokens: readonly QueryToken[], warnings: string[]): string | null {
  const pieces = tokens.map((token, at): string => {
    const { kind, source } = token
    if (kind === 'chunk') {
      const isBefore = startsOperand(tokens[at + 1])
      const isBetween = isBefore && at > 0 && tokens[at - 1]?.kind !== 'open' && tokens[at - 1]?.kind !== 'or'
      const operator = isBetween && source === 'AND' ? '' : isBetween && source === 'or' ? 'OR ' : null
      const meant = isBefore && source === 'NOT' ? '-' : operator
      if (meant !== null) {
        const use = meant === '' ? 'all words must be found anyway' : `use ${meant === '-' ? '-word' : 'OR'}`
        warnings.push(`${source} was searched for as a word: ${use}.`)
        return meant
      }
    }
    const meant = kind === 'chunk' || kind === 'quote' ? meantField(source, warnings) : null
    return `${meant ?? source}${kind === 'open' ? '' : ' '}`
  })
  const meant = pieces.join('').trim()
  return meant ===
    tokens
      .map(({ source, kind }) => `${source}${kind === 'open' ? '' : ' '}`)
      .join('')
      .trim()
    ? null
    : meant
}

/** A field of ours for one of another program; null if the text is no such field. Warns of it, and of an unknown field. */
function meantField(source: string, warnings: string[]): string | null {
  const [, minus = '', typed = '', value = ''] = /^(-?)([a-z]{2,}):(["“„]?[\p{L}\p{N}][^]*)$/iu.exec(source) ?? []
  const name = typed.toLowerCase()
  if (name === '' || splitField(`${name}:`) !== null || (dateNames.has(name) && !isDateWord(value))) return null
  const known = elsewhere[name] ?? likelyField(name)
  // After other names a number is a port, a line or a version.
  if (known === null && /^\d/.test(value)) return null
  const meant = known === null ? null : `${minus}${known(value)}`
  const use = meant === null ? '' : ` It may mean ${meant}.`
  warnings.push(`${echo(source)} was searched for as words: ${typed}: is no field.${use}`)
  return meant
}

/** A field with nearly this name. */
function likelyField(name: string): ((value: string) => string) | null {
  const near = fieldNames.find((field) => field.length > 3 && editDistance(name, field) === 1)
  return near === undefined ? null : (value) => `${near}:${value}`
}

/** A lone surrogate is no character, and NUL would end the text inside SQLite. */
const cleaned = (text: string): string => text.replaceAll('\u0000', ' ').replaceAll(/\p{Surrogate}/gu, '\ufffd')

interface Reader {
  readonly tokens: readonly QueryToken[]
  at: number
  readonly quoted: Set<QueryNode>
  readonly warnings: string[]
  readonly budget: Budget
  isExcluded: boolean
}

function readAlternatives(reader: Reader): QueryNode | null {
  const alternatives: QueryNode[] = []
  for (;;) {
    const alternative = readTogether(reader)
    if (alternative !== null) alternatives.push(alternative)
    if (reader.tokens[reader.at]?.kind !== 'or') return anyOf(alternatives)
    reader.at += 1
  }
}

/** Reads up to a closing parenthesis, or to an `OR` with something after it. */
function readTogether(reader: Reader): QueryNode | null {
  const nodes: QueryNode[] = []
  for (let token = reader.tokens[reader.at]; token !== undefined; token = reader.tokens[reader.at]) {
    if (token.kind === 'close') break
    if (token.kind === 'or' && nodes.length > 0 && startsOperand(reader.tokens[reader.at + 1])) break
    reader.at += 1
    if (token.kind === 'or') {
      reader.warnings.push('OR was searched for as a word: it must be between two alternatives.')
      nodes.push(...readWords(token.source, false, token.source, reader))
    } else nodes.push(...readOperand(reader, token))
  }
  return allOf(nodes)
}

const startsOperand = (token: QueryToken | undefined): boolean =>
  token !== undefined && token.kind !== 'close' && token.kind !== 'or'

type OperandToken = Exclude<QueryToken, { readonly kind: 'or' }>

function readOperand(reader: Reader, token: OperandToken): readonly QueryNode[] {
  const wasExcluded = reader.isExcluded
  reader.isExcluded = wasExcluded || token.isNegated
  const nodes = token.kind === 'chunk' || token.kind === 'quote' ? readTerm(reader, token) : readGroup(reader)
  reader.isExcluded = wasExcluded
  const all = token.isNegated ? allOf(nodes) : null
  return all === null ? nodes : [noneOf(all)]
}

function readGroup(reader: Reader): readonly QueryNode[] {
  const tree = readAlternatives(reader)
  if (reader.tokens[reader.at]?.kind === 'close') reader.at += 1
  return tree === null ? [] : [tree]
}

type TermToken = Extract<QueryToken, { readonly kind: 'chunk' | 'quote' }>

function readTerm(reader: Reader, token: TermToken): readonly QueryNode[] {
  const { warnings } = reader
  const isOpen = token.kind === 'quote' && !token.isClosed
  if (isOpen) warnings.push('A quotation mark is not closed: everything after it was read as one phrase.')
  const field = readFieldOf(reader, token)
  if (field !== null) return field
  const nodes = readText(reader, token)
  if (nodes.length === 0 && reader.budget.terms > 0 && !/^["“”„]$/.test(token.source)) {
    warnings.push(`${echo(token.source)} contains no word to search for.`)
  }
  return nodes
}

function readText(reader: Reader, token: TermToken): readonly QueryNode[] {
  if (token.kind === 'chunk') return readChunk(token.text, reader)
  const before = token.field === null ? [] : readWords(token.field, false, token.field, reader)
  const words = readWords(token.text, token.isPrefix, token.source, reader)
  for (const node of words) reader.quoted.add(node)
  return [...before, ...words]
}

/** Null if the token is no field, or an invalid one. */
function readFieldOf(reader: Reader, token: TermToken): readonly FieldNode[] | null {
  const split = splitField(token.kind === 'chunk' ? token.text : `${token.field ?? '"'}:`)
  if (split === null) return null
  const isStarred = token.kind === 'quote' && token.isPrefix
  const field =
    token.kind === 'quote'
      ? readField(split.name, `${token.text}${isStarred ? '*' : ''}`, token.source, reader.warnings)
      : readField(split.name, split.value, token.source, reader.warnings)
  if (field === null) return null
  reader.budget.values -= 1
  if (reader.budget.values >= 0) return [field]
  reader.warnings.push(`Only the first ${VALUES_MAX} fields were used.`)
  return []
}

/** How many more terms and field values a query may have. */
interface Budget {
  terms: number
  values: number
}

const TERMS_MAX = 32

// Characters within one identifier, path or contraction. All others separate words.
const PIECE = String.raw`(?:[\p{L}\p{M}\p{N}\p{Extended_Pictographic}\p{Regional_Indicator}\u00ad\u2060\ufeff_\-./\\:@#$+'’%]|\u200c|\u200d)+`
const wordPiece = new RegExp(PIECE, 'gu')
const wholePiece = new RegExp(`^${PIECE}$`, 'u')
const starredPiece = new RegExp(String.raw`^\*(${PIECE})\*$`, 'u')
// `*.ts` is a pattern of files and names a word; `*ending` names the end of one.
const endingPiece = new RegExp(String.raw`^\*((?=[\p{L}\p{M}\p{N}])${PIECE})$`, 'u')

/** Whether the whole text is read as one word. */
const isOnePiece = (text: string): boolean => wholePiece.test(text)

interface WordsOptions {
  readonly budget: Budget
  readonly warnings: string[]
  /** Whether the words are excluded. A truncated exclusion would exclude too much, so it is dropped instead. */
  readonly isExcluded: boolean
}

/** The words of one chunk, in order. */
function readChunk(chunk: string, options: WordsOptions): readonly QueryNode[] {
  const { warnings } = options
  const inside = starredPiece.exec(chunk)?.[1]
  if (inside !== undefined) return readInside(inside, false, options)
  const ending = endingPiece.exec(chunk)?.[1]
  if (ending !== undefined) return readInside(ending, true, options)
  const nodes: QueryNode[] = []
  for (const match of chunk.matchAll(wordPiece)) {
    const [piece] = match
    const end = match.index + piece.length
    if (chunk.charAt(match.index - 1) === '*') {
      warnings.push(`The * before ${echo(piece)} was ignored: use word* for beginnings, or *word* for any position.`)
    }
    const isStarred = /^\*(?![\p{L}\p{M}\p{N}])/u.test(chunk.slice(end, end + 3)) && /[\p{L}\p{M}\p{N}]$/u.test(piece)
    nodes.push(...readWords(piece, isStarred, isStarred ? `${piece}*` : piece, options))
  }
  return nodes
}

/** One word or phrase; empty if the text has no term. */
function readWords(text: string, isStarred: boolean, source: string, options: WordsOptions): readonly WordsNode[] {
  const { warnings } = options
  const found = tokenize(text)
  const last = found.at(-1)
  if (last === undefined) return []
  if (found.some((term) => term.term.length >= TERM_LENGTH_MAX && term.end - term.start > TERM_LENGTH_MAX)) {
    warnings.push(`${echo(source)} was cut: only the first ${TERM_LENGTH_MAX} characters of a word count.`)
  }
  const affordable = spend(text, options)
  if (affordable === null) return []
  // So many words begin with one letter that the search would read most of the index, unless other terms precede it.
  const isTooShort = isStarred && found.length === 1 && /^[a-z\d]$/.test(last.term)
  if (isTooShort) warnings.push(`${echo(source)} was searched for as a whole word: it is a single character.`)
  return [{ kind: 'words', text: affordable, isPrefix: isStarred && !isTooShort && affordable === text }]
}

/** `*inside*` or `*ending`. Unspaced scripts need no star: their characters are found anywhere in a text. */
function readInside(text: string, isEnding: boolean, options: WordsOptions): readonly QueryNode[] {
  const found = tokenize(text)
  const isUnspaced = found.some(({ term }) => isUnspacedSign(Array.from(term)[0] ?? ''))
  const isTooShort = found.length === 1 && Array.from(found[0]?.term ?? '').length < 2
  if (isTooShort && !isUnspaced) {
    options.warnings.push(
      `${echo(`*${text}${isEnding ? '' : '*'}`)} was searched for as a whole word: it is a single character.`,
    )
  }
  if (isTooShort || isUnspaced) return readWords(text, false, text, options)
  return found.length > 0 && spend(text, { ...options, isExcluded: true }) !== null
    ? [{ kind: 'inside', text, isEnding }]
    : []
}

/** Takes the terms of a text from the budget. @returns the part of the text within the budget; null if none */
function spend(text: string, { budget, warnings, isExcluded }: WordsOptions): string | null {
  const found = tokenize(text)
  const left = budget.terms
  budget.terms = Math.max(0, left - found.length)
  if (found.length <= left) return text
  warnings.push(`Only the first ${TERMS_MAX} words were searched for.`)
  const next = found[left]
  // In unspaced scripts terms overlap. So the text is cut where the next term begins.
  return left === 0 || isExcluded || next === undefined ? null : text.slice(0, next.start)
}

const allowed: Readonly<Partial<Record<FieldName, readonly string[]>>> = {
  role: roles,
  in: partNames,
  is: ['archived', 'deleted', 'subagent', 'orphan'],
  has: ['code', 'error', 'thinking'],
}
const dated: ReadonlySet<FieldName> = new Set<FieldName>(['before', 'after', 'on'])
const VALUE_LENGTH_MAX = 1000

/** Splits `name:value` at the first colon. Null if `name` is no field, or for `name::value`, which is a name in code. */
export function splitField(text: string): { readonly name: FieldName; readonly value: string } | null {
  const [, typed = '', value = ''] = /^([a-z]+):(?!:)(.*)$/is.exec(text) ?? []
  const name = fieldNames.find((each) => each === typed.toLowerCase())
  return name === undefined ? null : { name, value }
}

/** Reads a field. If it is invalid, adds a warning that says why it is searched for as words. */
function readField(name: FieldName, given: string, source: string, warnings: string[]): FieldNode | null {
  const value = given.trim()
  const reason = value === '' ? 'there is nothing after the colon' : reasonAgainst(name, value)
  if (reason === null) return { kind: 'field', name, values: [name in allowed ? value.toLowerCase() : value] }
  warnings.push(`${echo(source)} was searched for as words: ${reason}.`)
  return null
}

function reasonAgainst(name: FieldName, value: string): string | null {
  const values = allowed[name]
  if (values !== undefined && !values.includes(value.toLowerCase())) {
    return `${name}: takes ${values.slice(0, -1).join(', ')} or ${values.at(-1) ?? ''}`
  }
  if (dated.has(name) && !isDateWord(value)) {
    return `${name}: takes a date such as 2026-03-01, 2026-02, yesterday, 7d or "last week"`
  }
  return value.length > VALUE_LENGTH_MAX ? `it is longer than ${VALUE_LENGTH_MAX} characters` : null
}

const isDateWord = (value: string): boolean => readPeriod(value, { timeZone: 'UTC', nowMs: 0 }) !== null

/** A query in normal form. Parsed again, it gives the same tree. */
export function printQuery(tree: QueryNode | null): string {
  return tree === null ? '' : printNode(tree, 'or')
}

/** @param around the weakest operator that needs no parentheses here */
function printNode(node: QueryNode, around: 'or' | 'and' | 'not'): string {
  switch (node.kind) {
    case 'words':
      return printWords(node)
    case 'inside':
      return `*${node.text}${node.isEnding ? '' : '*'}`
    case 'field':
      return node.values.map((value) => printValue(node.name, value)).join(' ')
    case 'not':
      return printExclusion(node.node)
    default: {
      const inner = node.nodes.map((each) => printNode(each, node.kind === 'or' ? 'and' : 'not'))
      const text = inner.join(node.kind === 'or' ? ' OR ' : ' ')
      const isBare = around === 'or' || (around === 'and' && node.kind === 'and')
      return isBare ? text : `(${text})`
    }
  }
}

/** Several exclusions of a field mean: none of these values. */
function printExclusion(node: QueryNode): string {
  if (node.kind === 'field') return node.values.map((value) => `-${printValue(node.name, value)}`).join(' ')
  return node.kind === 'and' || node.kind === 'or' ? `-(${printNode(node, 'or')})` : `-${printNode(node, 'not')}`
}

function printValue(name: string, value: string): string {
  const isBare = /^[^\s"“”„()]+$/.test(value) && !value.startsWith(':')
  if (isBare) return `${name}:${value}`
  return value.endsWith('*') ? `${name}:"${value.slice(0, -1)}"*` : `${name}:"${value}"`
}

function printWords({ text, isPrefix }: WordsNode): string {
  const star = isPrefix ? '*' : ''
  const isBare =
    isOnePiece(text) &&
    !text.startsWith('-') &&
    text !== 'OR' &&
    splitField(text) === null &&
    (!isPrefix || /[\p{L}\p{M}\p{N}]$/u.test(text))
  return isBare ? `${text}${star}` : `"${text}"${star}`
}
