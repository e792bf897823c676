import { beginsLikeJson, unescaped, withoutOrders } from '../../../text/passages/spoken-texts.ts'
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
  /** Null if there is nothing to search for. */
  readonly tree: QueryNode | null
  /** Nodes that were in quotation marks. */
  readonly quoted: ReadonlySet<QueryNode>
  readonly warnings: readonly string[]
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
  const nodes = readEitherWay(reader, token)
  if (nodes.length === 0 && reader.budget.terms > 0 && !/^["“”„]$/.test(token.source)) {
    warnings.push(`${echo(token.source)} contains no word to search for.`)
  }
  return nodes
}

/** The index decodes JSON escapes only in tool input and output. A pasted text may come from there or not, so try both. */
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

/** Null if the token is no field, or an invalid one. */
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
  reader.warnings.push(`Only the first ${VALUES_MAX} fields were used.`)
  return []
}

function readTwoWords(reader: Reader, split: NonNullable<ReturnType<typeof splitField>>): FieldNode | null {
  const next = reader.tokens[reader.at]
  if (next?.kind !== 'chunk' || next.isNegated || !wantsUnit(split, next.text)) return null
  reader.at += 1
  return readField(split.name, `${split.value} ${next.text}`, next.source, reader.warnings)
}
