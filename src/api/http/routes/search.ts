import { Hono, type Context } from 'hono'
import { filtersOf } from '../../search/request.ts'
import type { SearchBodyRequest } from '../../search/search-body.ts'
import { readBounds, readClock } from '../dates.ts'
import { readQuery } from '../params.ts'
import { unreadText } from '../unread.ts'
import type { ApiContext } from '../../context.ts'
import { searchParameters, suggestParameters } from '../route-parameters.ts'

export function searchRoutes(context: ApiContext): Hono {
  return new Hono().get('/api/search', async (c) => {
    const query = readQuery(c, searchParameters)
    const clock = readClock(query.tz, context)
    // Only checks the dates: the search itself reads them like the dates in a query.
    readBounds(query, clock)
    const request: SearchBodyRequest = {
      q: query.q ?? '',
      filters: filtersOf(query),
      clock,
      sort: query.sort ?? 'relevance',
      group: query.group ?? 'message',
      facets: query.facets ?? [],
      explain: query.explain ?? false,
      isLiteral: query.literal ?? false,
      isRedacted: query.redact ?? false,
      limit: query.limit,
      offset: query.offset,
      unread: unreadText(context.live()),
    }
    return json(c, await context.ask({ kind: 'search', request }))
  })
}

export function suggestRoutes(context: ApiContext): Hono {
  return new Hono().get('/api/suggest', async (c) => {
    const query = readQuery(c, suggestParameters)
    return json(c, await context.ask({ kind: 'suggest', request: { q: query.q ?? '', limit: query.limit } }))
  })
}

const json = (c: Context, body: string): Response => c.body(body, 200, { 'content-type': 'application/json' })
