import type { Context } from 'hono'
import { asChatId } from '../../../model/ids.ts'
import { roles } from '../../../model/message.ts'
import { foundInChat, searchAnswer, suggestAnswer } from '../../answers/search.ts'
import { fieldFilters, type FieldFilter } from '../../../shared/filters.ts'
import { partNames, facetNames, filtersOf, searchSorts } from '../../search/query.ts'
import type { SearchBodyRequest } from '../../search/search.ts'
import {
  readBounds,
  readClock,
  anyOf,
  dates,
  flag,
  limit,
  listOf,
  offset,
  oneOf,
  page,
  parametersOf,
  text,
  words,
} from '../params.ts'
import { notFound } from '../problem.ts'
import { getChat } from '../../queries/chats/get-chat.ts'
import { get } from '../route.ts'
import { unreadText } from '../unread.ts'

/** Every skipped hit costs time. */
const OFFSET_MAX = 10_000
const SUGGESTIONS_MAX = 20
const SUGGESTIONS_DEFAULT = 10

/** Each filter of messages may be repeated. */
const filterParameters = {
  ...(Object.fromEntries(fieldFilters.map((name) => [name, words()])) as Record<FieldFilter, ReturnType<typeof words>>),
  role: anyOf(roles),
  in: anyOf(partNames),
}

export const searchRoutes = [
  get('/api/search', {
    says: 'Searches messages: q, the filters, from, to, sort, group, facets, explain.',
    query: parametersOf({
      q: text(),
      ...filterParameters,
      ...dates,
      sort: oneOf(searchSorts),
      group: oneOf(['chat']),
      facets: listOf(facetNames),
      explain: flag(),
      literal: flag(),
      redact: flag(),
      withoutActive: flag(),
      limit: limit(),
      offset: offset(OFFSET_MAX),
    }),
    answer: searchAnswer,
    handle: async ({ query, c }, api) => {
      const clock = readClock(query.tz, api)
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
        unread: unreadText(api.live()),
      }
      return asJson(c, await api.ask({ kind: 'search', request }))
    },
  }),
  get('/api/chats/:id/find', {
    says: 'Every message of a chat that q finds, in the order of the chat, with an exact count.',
    query: parametersOf({ q: text(), tz: dates.tz, ...page }),
    answer: foundInChat,
    handle: async ({ id, query: { q, tz, ...range }, c }, api) => {
      const chatId = asChatId(id)
      if (getChat(api.mirror(), chatId) === null) throw notFound('chat', id)
      const request = { chatId, q: q ?? '', clock: readClock(tz, api), ...range }
      return asJson(c, await api.ask({ kind: 'find', request }))
    },
  }),
  get('/api/suggest', {
    says: 'Completes q while it is typed: chats, projects, tools, files, words.',
    query: parametersOf({ q: text(), limit: limit(SUGGESTIONS_MAX, SUGGESTIONS_DEFAULT) }),
    answer: suggestAnswer,
    handle: async ({ query, c }, api) =>
      asJson(c, await api.ask({ kind: 'suggest', request: { q: query.q ?? '', limit: query.limit } })),
  }),
]

/** The search process answers in JSON already. */
const asJson = (c: Context, body: string): Response => c.body(body, 200, { 'content-type': 'application/json' })
