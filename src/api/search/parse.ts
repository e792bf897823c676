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
export interface QueryToken {
  readonly kind: 'open' | 'close' | 'or' | 'chunk' | 'quote'
  readonly source: string
  readonly isNegated: boolean
  /** What was typed after the minus, or inside the quotation marks. */
  readonly text: string
  /** Of a quote: the field name right before the quotation mark, such as `path`. */
  readonly field: string | null
  readonly isPrefix: boolean
  readonly isClosed: boolean
}

const plain = { isNegated: false, text: '', field: null, isPrefix: false, isClosed: true }

// A minus excludes only at the start of a word. `--flag` and `->call()` do not exclude: people paste them from a shell or
// from code. After a closing quote or parenthesis, a minus is a minus. A closing quote without an opening one is a chunk.
const token =
  /(?<minus>(?<=^|[\s(])-(?=[^\s\->)]))?(?:(?<open>\()|(?<field>[a-z]{1,18}:)?["“„](?<quoted>[^"”“]*)(?<end>["”“]\*?)?|(?<chunk>[^\s"“”„]+|.))/iy
const DEPTH_MAX = 20

/** Accepts any string. In the list of tokens every opened parenthesis is closed, and they are nested at most 20 deep. */
export function lexQuery(query: string, warnings: string[]): readonly QueryToken[] {
  const tokens: QueryToken[] = []
  let depth = 0
  const close = (source: string): void => {
    if (depth <= DEPTH_MAX) tokens.push({ ...plain, kind: 'close', source })
  }
  for (let at = 0; at < query.length;) {
    const sign = query.charAt(at)
    if (/\s/.test(sign) || (sign === ')' && depth > 0)) {
      if (sign === ')') {
        close(sign)
        depth -= 1
      }
      at += 1
      continue
    }
    const next = readToken(query, at, depth > 0)
    at += next.source.length
    if (next.kind === 'open') depth += 1
    if (next.kind !== 'open' || depth <= DEPTH_MAX) tokens.push(next)
    else warnings.push(`Parentheses nested more than ${DEPTH_MAX} deep were ignored.`)
  }
  if (depth > 0) warnings.push('A parenthesis is not closed: it was read up to the end of the query.')
  for (; depth > 0; depth -= 1) close('')
  return tokens
}

function readToken(query: string, at: number, isInside: boolean): QueryToken {
  token.lastIndex = at
  const found = token.exec(query)
  const { minus = '', open, field, quoted, end, chunk = '' } = found?.groups ?? {}
  const read = { ...plain, source: found?.[0] ?? '', isNegated: minus !== '' }
  if (open !== undefined) return { ...read, kind: 'open' }
  if (quoted !== undefined) {
    const marks = { isPrefix: end?.endsWith('*') === true, isClosed: end !== undefined }
    return { ...read, kind: 'quote', text: quoted, field: field?.slice(0, -1) ?? null, ...marks }
  }
  const text = isInside ? ownPart(chunk) : chunk
  return { ...read, kind: text === 'OR' && minus === '' ? 'or' : 'chunk', text, source: `${minus}${text}` }
}

/** `f(a)` is one chunk. A parenthesis that closes a group around the chunk does not belong to it. */
function ownPart(chunk: string): string {
  let opened = 0
  for (let at = 0; at < chunk.length; at += 1) {
    if (chunk.charAt(at) === '(') opened += 1
    if (chunk.charAt(at) === ')') opened -= 1
    if (opened < 0) return chunk.slice(0, at)
  }
  return chunk
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
const TERMS_MAX = 32
const VALUES_MAX = 32

interface Reader {
  readonly tokens: readonly QueryToken[]
  at: number
  readonly quoted: Set<QueryNode>
  readonly warnings: string[]
  /** How many more terms and values of fields are read. */
  terms: number
  values: number
  /** Whether the words are excluded. A truncated exclusion would exclude too much, so it is dropped instead. */
  isExcluded: boolean
}

/**
 * Parses a query. Any string has a meaning; `warnings` says what could not be read as intended. Limits: 32 terms of at
 * most 64 UTF-16 units each, 32 values of fields, and parentheses 20 deep. `OR` binds weaker than adjacency.
 */
export function parseQuery(query: string): ParsedQuery {
  const warnings: string[] = []
  // A copy from a terminal is cleaned in the same way as for the index. A lone surrogate is no character, and NUL would end
  // the text inside SQLite.
  const clean = withoutOrders(query)
    .replaceAll('\u0000', ' ')
    .replaceAll(/\p{Surrogate}/gu, '\ufffd')
  if (clean.length > QUERY_LENGTH_MAX) warnings.push(`Only the first ${QUERY_LENGTH_MAX} characters were searched for.`)
  const tokens = lexQuery(clean.slice(0, QUERY_LENGTH_MAX), warnings)
  const limits = { terms: TERMS_MAX, values: VALUES_MAX }
  const reader: Reader = { tokens, at: 0, quoted: new Set(), warnings, ...limits, isExcluded: false }
  const meant = beginsLikeJson(clean) ? null : meantInstead(tokens, warnings)
  const tree = readAlternatives(reader)
  return { tree, quoted: reader.quoted, warnings: [...new Set(warnings)], meant }
}

/** What other programs call a field. */
const elsewhere: ReadonlyMap<string, string> = new Map([
  ['title', '(in:title …)'],
  ['subject', '(in:title …)'],
  ['author', 'role:user'],
  ['by', 'role:user'],
  ['file', 'path:…'],
  ['repo', 'project:…'],
  ['from', 'after:…'],
  ['since', 'after:…'],
  ['to', 'before:…'],
  ['until', 'before:…'],
])
/** A date seldom follows such a name in code. Anything else often does. */
const dateNames: ReadonlySet<string> = new Set(['from', 'since', 'to', 'until'])

/** What other languages call an operator. */
const operators: ReadonlyMap<string, readonly [meant: string, use: string]> = new Map([
  ['AND', ['', 'all words must be found anyway']],
  ['or', ['OR ', 'use OR']],
  ['NOT', ['-', 'use -word']],
])

/** The query with our own operators for those of other languages; null if it has none of them. Warns of each one. */
function meantInstead(tokens: readonly QueryToken[], warnings: string[]): string | null {
  const pieces = tokens.map(({ kind, source }, at): { readonly meant: string | null; readonly typed: string } => {
    const typed = `${source}${kind === 'open' ? '' : ' '}`
    const [meant, use] = (kind === 'chunk' ? operators.get(source) : undefined) ?? []
    const before = tokens[at - 1]?.kind ?? 'open'
    const isUsed = startsOperand(tokens[at + 1]) && (source === 'NOT' || (before !== 'open' && before !== 'or'))
    if (meant === undefined || use === undefined || !isUsed) {
      const field = kind === 'chunk' || kind === 'quote' ? meantField(source, warnings) : null
      return { meant: field === null ? null : `${field} `, typed }
    }
    warnings.push(`${source} was searched for as a word: ${use}.`)
    return { meant, typed }
  })
  if (pieces.every(({ meant }) => meant === null)) return null
  return pieces
    .map(({ meant, typed }) => meant ?? typed)
    .join('')
    .trim()
}

/** A field of ours for one of another program; null if the text is no such field. Warns of it, and of an unknown field. */
function meantField(source: string, warnings: string[]): string | null {
  const [, minus = '', typed = '', value = ''] = /^(-?)([a-z]{2,}):(["“„]?[\p{L}\p{N}][^]*)$/iu.exec(source) ?? []
  const name = typed.toLowerCase()
  if (name === '' || splitField(`${name}:`) !== null || (dateNames.has(name) && !isDateWord(value))) return null
  const near = fieldNames.find((field) => field.length > 3 && editDistance(name, field) === 1)
  const known = elsewhere.get(name) ?? (near === undefined ? null : `${near}:…`)
  // After other names a number is a port, a line or a version.
  if (known === null && /^\d/.test(value)) return null
  const meant = known === null ? null : `${minus}${known.replace('…', () => value)}`
  const use = meant === null ? '' : ` It may mean ${meant}.`
  warnings.push(`${echo(source)} was searched for as words: ${typed}: is no field.${use}`)
  return meant
}

/** Reads alternatives, and the parenthesis that closes them. */
function readAlternatives(reader: Reader): QueryNode | null {
  const alternatives: QueryNode[] = []
  let isMore = true
  while (isMore) {
    const alternative = readTogether(reader)
    if (alternative !== null) alternatives.push(alternative)
    isMore = reader.tokens[reader.at]?.kind === 'or'
    reader.at += 1
  }
  return anyOf(alternatives)
}

/** Reads up to a closing parenthesis, or to an `OR` with something after it. */
function readTogether(reader: Reader): QueryNode | null {
  const nodes: QueryNode[] = []
  for (let next = reader.tokens[reader.at]; next !== undefined; next = reader.tokens[reader.at]) {
    if (next.kind === 'close') break
    if (next.kind === 'or' && nodes.length > 0 && startsOperand(reader.tokens[reader.at + 1])) break
    reader.at += 1
    nodes.push(...readOperand(reader, next))
  }
  return allOf(nodes)
}

const startsOperand = (next: QueryToken | undefined): boolean =>
  next !== undefined && next.kind !== 'close' && next.kind !== 'or'

function readOperand(reader: Reader, operand: QueryToken): readonly QueryNode[] {
  const wasExcluded = reader.isExcluded
  reader.isExcluded ||= operand.isNegated
  const nodes = operand.kind === 'open' ? [readAlternatives(reader) ?? []].flat() : readTerm(reader, operand)
  reader.isExcluded = wasExcluded
  const all = operand.isNegated ? allOf(nodes) : null
  return all === null ? nodes : [noneOf(all)]
}

function readTerm(reader: Reader, term: QueryToken): readonly QueryNode[] {
  const { warnings } = reader
  const { kind, text, source } = term
  if (kind === 'or') warnings.push('OR was searched for as a word: it must be between two alternatives.')
  if (!term.isClosed) warnings.push('A quotation mark is not closed: everything after it was read as one phrase.')
  const field = readField(term, warnings)
  if (field !== null) {
    reader.values -= 1
    if (reader.values >= 0) return [field]
    warnings.push(`Only the first ${VALUES_MAX} fields were used.`)
    return []
  }
  const nodes = kind === 'quote' ? readQuote(term, reader) : readChunk(text, reader)
  if (nodes.length === 0 && reader.terms > 0 && !/^["“”„]$/.test(source)) {
    warnings.push(`${echo(source)} contains no word to search for.`)
  }
  return nodes
}

function readQuote({ field, text, isPrefix, source }: QueryToken, reader: Reader): readonly QueryNode[] {
  const before = field === null ? [] : readWords(field, false, field, reader)
  const words = readWords(text, isPrefix, source, reader)
  for (const node of words) reader.quoted.add(node)
  return [...before, ...words]
}

// Characters within one identifier, path or contraction. All others separate words.
const PIECE = String.raw`(?:[\p{L}\p{M}\p{N}\p{Extended_Pictographic}\p{Regional_Indicator}\u00ad\u2060\ufeff_\-./\\:@#$+'’%]|\u200c|\u200d)+`
const wordPiece = new RegExp(PIECE, 'gu')
const wholePiece = new RegExp(`^${PIECE}$`, 'u')
// `*.ts` is a pattern of files and names a word; `*ending` names the end of one.
const starredPiece = new RegExp(String.raw`^\*(?:(${PIECE})\*|(?=[\p{L}\p{M}\p{N}])(${PIECE}))$`, 'u')

/** The words of one chunk, in order. */
function readChunk(chunk: string, reader: Reader): readonly QueryNode[] {
  const [, inside, ending] = starredPiece.exec(chunk) ?? []
  const part = inside ?? ending
  if (part !== undefined) return readInside(part, inside === undefined, reader)
  return [...chunk.matchAll(wordPiece)].flatMap(({ 0: piece, index }) => {
    const end = index + piece.length
    if (chunk.charAt(index - 1) === '*') {
      const use = 'use word* for beginnings, or *word* for any position'
      reader.warnings.push(`The * before ${echo(piece)} was ignored: ${use}.`)
    }
    const isStarred = /^\*(?![\p{L}\p{M}\p{N}])/u.test(chunk.slice(end, end + 3)) && /[\p{L}\p{M}\p{N}]$/u.test(piece)
    return readWords(piece, isStarred, isStarred ? `${piece}*` : piece, reader)
  })
}

const warnOfShort = (source: string, { warnings }: Reader): void =>
  void warnings.push(`${echo(source)} was searched for as a whole word: it is a single character.`)

/** One word or phrase; empty if the text has no term. */
function readWords(text: string, isStarred: boolean, source: string, reader: Reader): readonly WordsNode[] {
  const found = tokenize(text)
  const last = found.at(-1)
  if (last === undefined) return []
  if (found.some(({ term, start, end }) => term.length >= TERM_LENGTH_MAX && end - start > TERM_LENGTH_MAX)) {
    const warning = `${echo(source)} was cut: only the first ${TERM_LENGTH_MAX} characters of a word count.`
    reader.warnings.push(warning)
  }
  const affordable = spend(text, reader)
  if (affordable === null) return []
  // So many words begin with one letter that the search would read most of the index, unless other terms precede it.
  const isTooShort = isStarred && found.length === 1 && /^[a-z\d]$/.test(last.term)
  if (isTooShort) warnOfShort(source, reader)
  return [{ kind: 'words', text: affordable, isPrefix: isStarred && !isTooShort && affordable === text }]
}

/** `*inside*` or `*ending`. Unspaced scripts need no star: their characters are found anywhere in a text. */
function readInside(text: string, isEnding: boolean, reader: Reader): readonly QueryNode[] {
  const found = tokenize(text)
  const isUnspaced = found.some(({ term }) => isUnspacedSign(Array.from(term)[0] ?? ''))
  const isTooShort = found.length === 1 && Array.from(found[0]?.term ?? '').length < 2
  if (isTooShort && !isUnspaced) warnOfShort(`*${text}${isEnding ? '' : '*'}`, reader)
  if (isTooShort || isUnspaced) return readWords(text, false, text, reader)
  return found.length > 0 && spend(text, reader) === text ? [{ kind: 'inside', text, isEnding }] : []
}

/** Takes the terms of a text from the budget. @returns the part of the text within the budget; null if none */
function spend(text: string, reader: Reader): string | null {
  const found = tokenize(text)
  const left = reader.terms
  reader.terms = Math.max(0, left - found.length)
  if (found.length <= left) return text
  reader.warnings.push(`Only the first ${TERMS_MAX} words were searched for.`)
  // In unspaced scripts terms overlap. So the text is cut where the next term begins.
  return left === 0 || reader.isExcluded ? null : text.slice(0, found[left]?.start)
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

/** Null if the token is no field, or an invalid one: then a warning says why it is searched for as words. */
function readField({ kind, text, field, isPrefix, source }: QueryToken, warnings: string[]): FieldNode | null {
  const split = splitField(kind === 'quote' ? `${field ?? '"'}:` : text)
  if (split === null) return null
  const { name } = split
  const value = (kind === 'quote' ? `${text}${isPrefix ? '*' : ''}` : split.value).trim()
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
export const printQuery = (tree: QueryNode | null): string => (tree === null ? '' : printNode(tree, true))

/** @param isBare whether alternatives, and words side by side, need no parentheses here */
function printNode(node: QueryNode, isBare: boolean): string {
  switch (node.kind) {
    case 'words':
      return printWords(node)
    case 'inside':
      return `*${node.text}${node.isEnding ? '' : '*'}`
    case 'field':
      return printField(node, '')
    case 'not':
      // Several exclusions of a field mean: none of these values.
      return node.node.kind === 'field' ? printField(node.node, '-') : `-${printNode(node.node, false)}`
    default: {
      const isOr = node.kind === 'or'
      const text = node.nodes.map((each) => printNode(each, isOr)).join(isOr ? ' OR ' : ' ')
      return isBare ? text : `(${text})`
    }
  }
}

function printField({ name, values }: FieldNode, minus: string): string {
  const printed = values.map((value) => {
    const isBare = /^[^\s"“”„()]+$/.test(value) && !value.startsWith(':')
    if (isBare) return `${minus}${name}:${value}`
    return `${minus}${name}:${value.endsWith('*') ? `"${value.slice(0, -1)}"*` : `"${value}"`}`
  })
  return printed.join(' ')
}

function printWords({ text, isPrefix }: WordsNode): string {
  const isBare =
    wholePiece.test(text) &&
    !text.startsWith('-') &&
    text !== 'OR' &&
    splitField(text) === null &&
    (!isPrefix || /[\p{L}\p{M}\p{N}]$/u.test(text))
  return `${isBare ? text : `"${text}"`}${isPrefix ? '*' : ''}`
}
