import { beginsLikeJson, unescaped, withoutOrders } from '../../../text/passages/readable.ts'
import { echo, lexQuery, type QueryToken } from './lex.ts'
import {
  readField,
  splitField,
  wantsUnit,
  warnOfDateName,
  readChunk,
  readWords,
  TERMS_MAX,
  type Budget,
} from './read-term.ts'
import { allOf, anyOf, noneOf, type FieldNode, type QueryNode } from './tree.ts'

export interface ParsedQuery {
  /** Null where there is nothing to search for. */
  readonly tree: QueryNode | null
  /** The words of it that stood in quotation marks. */
  readonly quoted: ReadonlySet<QueryNode>
  readonly warnings: readonly string[]
}

/** UTF-16 units of a query that are looked at. */
const QUERY_LENGTH_MAX = 10_000
/** Values of fields. */
const VALUES_MAX = 32

/**
 * Reads a query. Total: any string has a meaning; what could not be taken as meant stands in `warnings`. At most 32
 * terms of at most 64 UTF-16 units each, 32 values of fields, and 20 parentheses deep. `OR` binds less than standing
 * side by side.
 */
export function parseQuery(query: string): ParsedQuery {
  const warnings: string[] = []
  // What was copied from a terminal is read as the index read it.
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
    isJson: beginsLikeJson(clean),
  }
  const tree = readAlternatives(reader)
  return { tree, quoted: reader.quoted, warnings: [...new Set(warnings)] }
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
  readonly isJson: boolean
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

/** Up to a parenthesis that closes, or an `OR` that parts this from something. */
function readTogether(reader: Reader): QueryNode | null {
  const nodes: QueryNode[] = []
  for (let token = reader.tokens[reader.at]; token !== undefined; token = reader.tokens[reader.at]) {
    if (token.kind === 'close') break
    if (token.kind === 'or' && nodes.length > 0 && startsOperand(reader.tokens[reader.at + 1])) break
    reader.at += 1
    if (token.kind === 'or') {
      reader.warnings.push('OR was searched for as a word: it stands between two things, either of which will do.')
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
  if (isOpen) warnings.push('A quotation mark is not closed: all that follows it was taken as one phrase.')
  const field = readFieldOf(reader, token)
  if (field !== null) return field
  const nodes = readEitherWay(reader, token)
  if (nodes.length === 0 && reader.budget.terms > 0 && !/^["“”„]$/.test(token.source)) {
    warnings.push(`${echo(token.source)} holds no word to search for.`)
  }
  return nodes
}

/** The index reads the escapes of JSON that a tool took or gave, and of no other: what was copied may be of either. */
function readEitherWay(reader: Reader, token: TermToken): readonly QueryNode[] {
  const text = reader.isJson ? cleaned(unescaped(token.text)).replaceAll(/["“”„]/g, ' ') : token.text
  if (text === token.text) return readText(reader, token)
  const ways = [readText(reader, { ...token, text }), readText(reader, token)]
  const either = anyOf(ways.map(allOf).filter((way) => way !== null))
  return either === null ? [] : [either]
}

function readText(reader: Reader, token: TermToken): readonly QueryNode[] {
  if (token.kind === 'chunk') return readChunk(token.text, reader)
  const before = token.field === null ? [] : readWords(token.field, false, token.field, reader)
  const words = readWords(token.text, token.isPrefix, token.source, reader)
  for (const node of words) reader.quoted.add(node)
  return [...before, ...words]
}

/** Null for what is no field, or none that can be meant. */
function readFieldOf(reader: Reader, token: TermToken): readonly FieldNode[] | null {
  const split = splitField(token.kind === 'chunk' ? token.text : `${token.field ?? '"'}:`)
  if (split === null) {
    if (token.kind === 'chunk') warnOfDateName(token.text, reader.warnings)
    return null
  }
  const isStarred = token.kind === 'quote' && token.isPrefix
  const field =
    token.kind === 'quote'
      ? readField(split.name, `${token.text}${isStarred ? '*' : ''}`, token.source, reader.warnings)
      : (readTwoWords(reader, split) ?? readField(split.name, split.value, token.source, reader.warnings))
  if (field === null) return null
  reader.budget.values -= 1
  if (reader.budget.values >= 0) return [field]
  reader.warnings.push(`Only the first ${VALUES_MAX} fields were taken.`)
  return []
}

function readTwoWords(reader: Reader, split: NonNullable<ReturnType<typeof splitField>>): FieldNode | null {
  const next = reader.tokens[reader.at]
  if (next?.kind !== 'chunk' || next.isNegated || !wantsUnit(split, next.text)) return null
  reader.at += 1
  return readField(split.name, `${split.value} ${next.text}`, next.source, reader.warnings)
}
