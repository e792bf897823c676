import { Hono } from 'hono'
import { roles } from '../../../model/message.ts'
import { partNames } from '../../search/language/tree.ts'
import { facetNames, filterNames, searchSorts, type SearchFilters, type SearchRequest } from '../../search/request.ts'
import { readBounds, readClock } from '../dates.ts'
import { anyOf, flag, limit, listOf, offset, oneOf, parametersOf, readQuery, text, word, words } from '../params.ts'
import { Problem } from '../problem.ts'
import { unreadText } from '../unread.ts'
import type { ApiContext } from '../api-context.ts'

/** Every skipped hit costs time. */
const OFFSET_MAX = 10_000

const parameters = parametersOf({
  q: text(),
  project: words(),
  role: anyOf(roles),
  in: anyOf(partNames),
  tool: words(),
  model: words(),
  mode: words(),
  path: words(),
  chat: words(),
  from: word(),
  to: word(),
  tz: word(),
  sort: oneOf(searchSorts),
  group: oneOf(['chat']),
  facets: listOf(facetNames),
  explain: flag(),
  literal: flag(),
  limit: limit(),
  offset: offset(OFFSET_MAX),
})

export function searchRoutes(context: ApiContext): Hono {
  return new Hono().get('/api/search', async (c) => {
    const query = readQuery(c, parameters)
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

const SUGGESTIONS_MAX = 20
const SUGGESTIONS_DEFAULT = 10

const suggestParameters = parametersOf({ q: text(), limit: limit(SUGGESTIONS_MAX, SUGGESTIONS_DEFAULT) })

export function suggestRoutes(context: ApiContext): Hono {
  return new Hono().get('/api/suggest', async (c) => {
    const query = readQuery(c, suggestParameters)
    return c.json(await context.ask({ kind: 'suggest', request: { q: query.q ?? '', limit: query.limit } }))
  })
}
