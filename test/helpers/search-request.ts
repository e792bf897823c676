import type { SearchRequest } from '../../src/api/search/query.ts'

/** A request with only a query, which a test can change. */
export function requestOf(q: string, changes: Partial<SearchRequest> = {}): SearchRequest {
  const clock = { timeZone: 'UTC', nowMs: Date.UTC(2026, 0, 20, 12) }
  const plain = { filters: {}, clock, sort: 'relevance', group: 'message', facets: [], explain: false } as const
  return { q, ...plain, limit: 20, offset: 0, ...changes }
}
