import { fieldFilters } from '../../shared/filters.ts'
import { columnNames } from '../../text/terms/columns.ts'

const ownFields = ['before', 'after', 'on', 'is', 'has'] as const
export const fieldNames = [...fieldFilters, ...ownFields]
export type FieldName = (typeof fieldNames)[number]

/** The parts of a message that `in:` can name, and the title of its chat. */
export const partNames = [...columnNames, 'title'] as const

/** Adjacent terms: one word with its parts, or a phrase. The last term may be the beginning of a longer one. */
export interface WordsNode {
  readonly kind: 'words'
  readonly text: string
  readonly isPrefix: boolean
}

/** A word that contains these characters, or ends with them. */
export interface InsideNode {
  readonly kind: 'inside'
  readonly text: string
  readonly isEnding: boolean
}

/** One matching value is enough. */
export interface FieldNode {
  readonly kind: 'field'
  readonly name: FieldName
  readonly values: readonly string[]
}

/** A parsed query. `allOf`, `anyOf` and `noneOf` make it canonical. */
export type QueryNode =
  | WordsNode
  | InsideNode
  | FieldNode
  | { readonly kind: 'not'; readonly node: QueryNode }
  | { readonly kind: 'and' | 'or'; readonly nodes: readonly QueryNode[] }

/** All of them must match. A repeated field means any of its values; repeated exclusions mean none of them. */
export function allOf(nodes: readonly QueryNode[]): QueryNode | null {
  const merged: QueryNode[] = []
  for (const node of flatten('and', nodes)) {
    const twin = merged.findIndex((other) => isMergeable(other, node))
    const before = merged[twin]
    if (before === undefined) merged.push(node)
    else merged[twin] = mergeFields(before, node)
  }
  return joined('and', merged)
}

export function anyOf(nodes: readonly QueryNode[]): QueryNode | null {
  return joined('or', flatten('or', nodes))
}

export function noneOf(node: QueryNode): QueryNode {
  return node.kind === 'not' ? node.node : { kind: 'not', node }
}

function joined(kind: 'and' | 'or', nodes: readonly QueryNode[]): QueryNode | null {
  const [first, second] = nodes
  if (first === undefined) return null
  return second === undefined ? first : { kind, nodes }
}

function flatten(kind: 'and' | 'or', nodes: readonly QueryNode[]): readonly QueryNode[] {
  return nodes.flatMap((node) => (node.kind === kind ? node.nodes : [node]))
}

function isMergeable(one: QueryNode, other: QueryNode): boolean {
  if (one.kind === 'not' && other.kind === 'not') return isMergeable(one.node, other.node)
  return one.kind === 'field' && other.kind === 'field' && one.name === other.name
}

function mergeFields(one: QueryNode, other: QueryNode): QueryNode {
  if (one.kind === 'not' && other.kind === 'not') return { kind: 'not', node: mergeFields(one.node, other.node) }
  if (one.kind !== 'field' || other.kind !== 'field') return one
  return { ...one, values: [...new Set([...one.values, ...other.values])] }
}

/** All fields of a query, at any depth. */
export function fieldsOf(node: QueryNode): readonly FieldNode[] {
  if (node.kind === 'field') return [node]
  if (node.kind === 'not') return fieldsOf(node.node)
  return node.kind === 'and' || node.kind === 'or' ? node.nodes.flatMap(fieldsOf) : []
}

export function hasWords(node: QueryNode): boolean {
  if (node.kind === 'not') return hasWords(node.node)
  if (node.kind === 'and' || node.kind === 'or') return node.nodes.some(hasWords)
  return node.kind !== 'field'
}
