import { fieldFilters, filterNames, type FilterName } from '../../shared/filters.ts'
import { columnNames } from '../../text/terms/columns.ts'
import type { Clock } from '../periods.ts'

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

export const searchSorts = ['relevance', 'newest', 'oldest'] as const
export type SearchSort = (typeof searchSorts)[number]

export const facetNames = ['project', 'role', 'part', 'tool', 'model', 'machine', 'month'] as const
export type FacetName = (typeof facetNames)[number]

/** Filters besides the query. Each means the same as a field of the query, and one matching value is enough. */
export type SearchFilters = Readonly<Partial<Record<FilterName, readonly string[]>>> & {
  /** Leaves out chats that were active in the last ten minutes: an agent that searches would find itself. */
  readonly withoutActive?: true
}

/** The filters among the parameters of a request; null is none. */
export const filtersOf = (
  given: Readonly<Record<FilterName, string | readonly string[] | null>> & { readonly withoutActive: boolean | null },
): SearchFilters => ({
  ...Object.fromEntries(
    filterNames.flatMap((name) => {
      const values = given[name]
      return values === null ? [] : [[name, typeof values === 'string' ? [values] : values]]
    }),
  ),
  ...(given.withoutActive === true ? { withoutActive: true } : {}),
})

export interface SearchRequest {
  readonly q: string
  readonly filters: SearchFilters
  /** Time zone and present time, for dates. */
  readonly clock: Clock
  readonly sort: SearchSort
  /** One item per message, or per chat. */
  readonly group: 'message' | 'chat'
  readonly facets: readonly FacetName[]
  readonly explain: boolean
  /** Searches exactly what was typed: a misspelt word is not replaced, only suggested. */
  readonly isLiteral?: boolean
  /** Masks secrets in the passages. */
  readonly isRedacted?: boolean
  readonly limit: number
  readonly offset: number
}

/** The field of the query that a filter corresponds to. */
const fieldOfFilter = (name: FilterName): FieldName => {
  if (name === 'from') return 'after'
  return name === 'to' ? 'before' : name
}

/** The filters as fields of a query. */
export function filterNodes(filters: SearchFilters): readonly QueryNode[] {
  const nodes = filterNames.flatMap((name): QueryNode[] => {
    const values = filters[name]
    return values === undefined ? [] : [{ kind: 'field', name: fieldOfFilter(name), values }]
  })
  if (filters.withoutActive !== true) return nodes
  return [...nodes, { kind: 'not', node: { kind: 'field', name: 'is', values: ['active'] } }]
}
