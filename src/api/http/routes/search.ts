import { Hono } from 'hono'
import { filterNames, type SearchFilters, type SearchRequest } from '../../search/request.ts'
import { readBounds, readClock } from '../dates.ts'
import { readQuery } from '../params.ts'
import { Problem } from '../problem.ts'
import { unreadText } from '../unread.ts'
import type { ApiContext } from '../api-context.ts'
import { searchParameters, suggestParameters } from '../route-parameters.ts'

export function searchRoutes(context: ApiContext): Hono {
  return new Hono().get('/api/search', async (c) => {
    const query = readQuery(c, searchParameters)
    const clock = readClock(query.tz, context)
    // Only checks the dates: the search itself reads them like the dates in a query.
    readBounds(query, clock)
    const filters: SearchFilters = Object.fromEntries(
      filterNames.flatMap((name) => {
        const given = query[name]
        return given === null ? [] : [[name, typeof given === 'string' ? [given] : given]]
      }),
    )
    const request: SearchRequest = {
      q: query.q ?? '',
      filters,
      clock,
      sort: query.sort ?? 'relevance',
      group: query.group ?? 'message',
      facets: query.facets ?? [],
      explain: query.explain ?? false,
      isLiteral: query.literal ?? false,
      isRedacted: query.redact ?? false,
      limit: query.limit,
      offset: query.offset,
    }
    const unread = unreadText(context.live())
    const answer = await context.ask({ kind: 'search', request })
    if (answer.isPartial && answer.items.length === 0) {
      throw new Problem(503, 'deadline', 'The search ran out of time before it found anything. Use rarer words.')
    }
    return c.json({
      ...answer,
      totalIsExact: answer.totalIsExact && unread === null,
      warnings: [...answer.warnings, ...(unread === null ? [] : [unread])],
      limit: query.limit,
      offset: query.offset,
    })
  })
}

export function suggestRoutes(context: ApiContext): Hono {
  return new Hono().get('/api/suggest', async (c) => {
    const query = readQuery(c, suggestParameters)
    return c.json(await context.ask({ kind: 'suggest', request: { q: query.q ?? '', limit: query.limit } }))
  })
}
