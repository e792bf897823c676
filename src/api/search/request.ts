import type { Clock } from '../periods.ts'
import { filterNames, type FilterName } from '../../shared/filters.ts'
import type { FieldName, QueryNode } from './query.ts'

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
