import type { FieldName, FieldNode } from '../language/tree.ts'
import { filterNames, type FilterName, type SearchFilters } from '../request.ts'

/** What a filter is called in a query. */
const fieldOfFilter = (name: FilterName): FieldName => {
  if (name === 'from') return 'after'
  return name === 'to' ? 'before' : name
}

/** Filters beside a query as fields: both then mean the same. */
export function filterNodes(filters: SearchFilters): readonly FieldNode[] {
  return filterNames.flatMap((name) => {
    const values = filters[name]
    return values === undefined ? [] : [{ kind: 'field', name: fieldOfFilter(name), values } as const]
  })
}
