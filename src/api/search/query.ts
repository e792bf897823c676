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
  const all = flatten('and', nodes).reduce<readonly QueryNode[]>((before, node) => {
    const merged = before.map((other) => mergeFields(other, node))
    const isNew = merged.every((each) => each === null)
    return isNew ? [...before, node] : before.map((other, at) => merged[at] ?? other)
  }, [])
  return joined('and', all)
}

export const anyOf = (nodes: readonly QueryNode[]): QueryNode | null => joined('or', flatten('or', nodes))

export const noneOf = (node: QueryNode): QueryNode => (node.kind === 'not' ? node.node : { kind: 'not', node })

function joined(kind: 'and' | 'or', nodes: readonly QueryNode[]): QueryNode | null {
  const [first = null] = nodes
  return nodes.length > 1 ? { kind, nodes } : first
}

const flatten = (kind: 'and' | 'or', nodes: readonly QueryNode[]): readonly QueryNode[] =>
  nodes.flatMap((node) => (node.kind === kind ? node.nodes : [node]))

/** One node for two of the same field, or for two exclusions of it; else null. */
function mergeFields(one: QueryNode, other: QueryNode): QueryNode | null {
  if (one.kind === 'not' && other.kind === 'not') {
    const node = mergeFields(one.node, other.node)
    return node === null ? null : { kind: 'not', node }
  }
  if (one.kind !== 'field' || other.kind !== 'field' || one.name !== other.name) return null
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
  ...Object.fromEntries(filterNames.flatMap((name) => (given[name] === null ? [] : [[name, [given[name]].flat()]]))),
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
  /** What the mirror still lacks, as a sentence; null or missing if that is almost nothing. */
  readonly unread?: string | null
  readonly limit: number
  readonly offset: number
}

/** The filters as fields of a query. */
export function filterNodes(filters: SearchFilters): readonly QueryNode[] {
  const nodes = filterNames.flatMap((filter): QueryNode[] => {
    const name = filter === 'from' ? 'after' : filter === 'to' ? 'before' : filter
    const values = filters[filter]
    return values === undefined ? [] : [{ kind: 'field', name, values }]
  })
  if (filters.withoutActive !== true) return nodes
  return [...nodes, { kind: 'not', node: { kind: 'field', name: 'is', values: ['active'] } }]
}
