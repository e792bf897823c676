import { readBounds } from '../http/dates.ts'
import { refuseUnknown, toBadParameter } from '../http/params.ts'
import { badParameters } from '../http/problem.ts'
import { scopeParameters } from '../http/route-parameters.ts'
import type { Scope } from '../http/schemas/archives.ts'
import type { Clock } from '../periods.ts'
import { parseQuery } from '../search/language/parse.ts'
import { filtersOf, type SearchFilters } from '../search/request.ts'

/**
 * A scope as a search request; null for everything. A search refuses the same: an archive of nothing would still count as
 * verified.
 * @throws Problem 400 that says what is wrong with it
 */
export function readScope(scope: Scope, clock: Clock): { readonly q: string; readonly filters: SearchFilters } | null {
  if (scope === null) return null
  const given = typeof scope === 'string' ? { q: scope } : scope
  refuseUnknown(Object.keys(given), Object.keys(scopeParameters.shape), 'key')
  const lists = Object.entries(given).map(([name, value]) => [name, Array.isArray(value) ? value : [value]] as const)
  const read = scopeParameters.safeParse(Object.fromEntries(lists))
  if (!read.success) throw badParameters(read.error.issues.map(toBadParameter), 'bad-body')
  readBounds(read.data, clock)
  const filters = filtersOf(read.data)
  const q = read.data.q ?? ''
  if (Object.keys(filters).length > 0 || parseQuery(q).tree !== null) return { q, filters }
  const reason = 'is empty: name a word or a filter, or leave it out to archive everything'
  throw badParameters([{ name: 'scope', reason }], 'bad-body')
}
