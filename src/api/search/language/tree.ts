import { columnNames } from '../../../text/terms/columns.ts'

export const fieldNames = [
  'project',
  'role',
  'in',
  'tool',
  'model',
  'mode',
  'path',
  'chat',
  'before',
  'after',
  'on',
  'is',
  'has',
] as const
export type FieldName = (typeof fieldNames)[number]

/** The parts of a message that `in:` can name, and the title of its chat. */
export const partNames = [...columnNames, 'title'] as const

/** Terms that stand side by side: one word with its parts, or a phrase. The last may be the beginning of a longer one. */
export interface WordsNode {
  readonly kind: 'words'
  readonly text: string
  readonly isPrefix: boolean
}

/** A word that holds these signs somewhere, or ends with them. */
export interface InsideNode {
  readonly kind: 'inside'
  readonly text: string
  readonly isEnding: boolean
}

/** Any of the values will do. */
export interface FieldNode {
  readonly kind: 'field'
  readonly name: FieldName
  readonly values: readonly string[]
}

/** What a query asks for, as it was written. Canonical as `allOf`, `anyOf` and `noneOf` make it. */
export type QueryNode =
  | WordsNode
  | InsideNode
  | FieldNode
  | { readonly kind: 'not'; readonly node: QueryNode }
  | { readonly kind: 'and' | 'or'; readonly nodes: readonly QueryNode[] }

/** All of them. A field that is repeated means any of its values, and repeated exclusions none of them. */
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

/** Every field of a query, wherever it stands. */
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
