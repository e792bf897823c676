import * as params from '../params.ts'
import { asChatId } from '../../../model/ids.ts'
import { chatAnswer, chatsAnswer, lossesAnswer } from '../../answers/chats.ts'
import { messagesAnswer } from '../../answers/messages.ts'
import { chatSorts, getChat, listChats } from '../../queries/chats.ts'
import { imageTypes, listMessages, readImage } from '../../queries/messages.ts'
import { listLosses } from '../../queries/sources.ts'
import { readMatches, withMatches } from './projects.ts'
import { notFound } from '../problem.ts'
import { get } from '../route.ts'
import { exportChat } from '../../export/export-chat.ts'
import { exportFormats } from '../../export/formats.ts'
import { toIso } from '../../queries/rows.ts'
import type { Context } from 'hono'
import { roles } from '../../../model/message.ts'
import { foundInChat, searchAnswer, suggestAnswer } from '../../answers/search.ts'
import { type FieldFilter, fieldFilters } from '../../../shared/filters.ts'
import { type SearchRequest, facetNames, filtersOf, partNames, searchSorts } from '../../search/query.ts'
import { unreadText } from '../unread.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Every skipped hit costs time. */
const OFFSET_MAX = 10_000
const SUGGESTIONS_MAX = 20
const SUGGESTIONS_DEFAULT = 10

/** Each filter of messages may be repeated. */
const filterParameters = {
  ...(Object.fromEntries(fieldFilters.map((name) => [name, params.words()])) as Record<
    FieldFilter,
    ReturnType<typeof params.words>
  >),
  role: params.anyOf(roles),
  in: params.anyOf(partNames),
}

export const chatRoutes = [
  get('/api/chats/:id/image', {
    says: 'An attached image of a message, while its file is on this machine: message, path.',
    query: params.parametersOf({ message: params.word(), path: params.word() }),
    answer: imageTypes,
    handle: ({ id, query: { message, path }, c }, api) => {
      const image = readImage(api.mirror(), { chat: asChatId(id), message: message ?? '', path: path ?? '' })
      if (image === null) throw notFound('image', path ?? '')
      c.header('content-type', image.mime)
      c.header('content-security-policy', "default-src 'none'; sandbox")
      return c.body(image.bytes)
    },
  }),
  get('/api/chats', {
    says: 'Chats, newest first: project, mode, model, from, to, q, sort.',
    query: params.parametersOf({
      project: params.words(),
      ...params.dates,
      mode: params.words(),
      branch: params.words(),
      model: params.words(),
      machine: params.words(),
      archived: params.flag(),
      deleted: params.flag(),
      subagents: params.flag(),
      includeEmpty: params.flag(),
      idPrefix: params.word(),
      q: params.text(),
      sort: params.oneOf(chatSorts),
      commit: params.word(),
      repo: params.word(),
      ...params.page,
    }),
    answer: chatsAnswer,
    problems: [404, 409],
    handle: async ({ query }, api) => {
      const matches = await readMatches(api, query)
      const scope = params.readScope(query, api)
      const scores = matches === null ? null : new Map(matches.map(({ num }, place) => [num, -place]))
      const found = listChats(api.mirror(), { ...query, ...scope, scores })
      return matches === null ? found : { ...found, items: withMatches(found.items, matches) }
    },
  }),
  get('/api/chats/:id', {
    says: 'One chat, with its files, tools and subagents.',
    answer: chatAnswer,
    handle: ({ id }, api) => {
      const chat = getChat(api.mirror(), asChatId(id))
      if (chat === null) throw notFound('chat', id)
      return chat
    },
  }),
  get('/api/chats/:id/messages', {
    says: "A chat's messages in order; around=<messageId>.",
    query: params.parametersOf({ ...params.page, around: params.word(), includeOrphans: params.flag() }),
    answer: messagesAnswer,
    handle: ({ id, query: { around, includeOrphans, ...range } }, api) => {
      const request = { chatId: asChatId(id), around, includeOrphans: includeOrphans ?? false, ...range }
      const found = listMessages(api.mirror(), request)
      if (found === null) throw notFound('chat', id)
      return found
    },
  }),
  get('/api/losses', {
    says: 'What Cursor deleted and the mirror still has: project, from, to.',
    query: params.parametersOf({ project: params.words(), machine: params.words(), ...params.dates, ...params.page }),
    answer: lossesAnswer,
    handle: ({ query }, api) => listLosses(api.mirror(), { ...query, ...params.readScope(query, api) }),
  }),
  get('/api/chats/:id/export', {
    says: 'A chat as a file: as=markdown|json|jsonl|html, includeOrphans, redact=true to mask secrets.',
    query: params.parametersOf({
      as: params.oneOf(exportFormats),
      includeOrphans: params.flag(),
      redact: params.flag(),
    }),
    answer: ['text/markdown', 'application/json', 'application/jsonl', 'text/html'],
    handle: async ({ id, query, c }, api) => {
      // The rules are loaded only when they are needed.
      const masking = query.redact === true ? new (await import('../../export/redact/masking.ts')).Masking() : null
      const file = exportChat(api.mirror(), asChatId(id), {
        as: query.as ?? 'markdown',
        includeOrphans: query.includeOrphans ?? false,
        stamp: { version: api.version, exportedAt: toIso(api.now()) },
        masking,
      })
      if (file === null) throw notFound('chat', id)
      c.header('content-type', file.contentType)
      if (file.contentSecurityPolicy !== undefined) c.header('content-security-policy', file.contentSecurityPolicy)
      c.header('content-disposition', `attachment; filename="${file.name}"`)
      // The answer to a HEAD has no body: nobody would read the text.
      if (c.req.raw.method === 'HEAD') return c.body(null)
      return c.body(textStream(file.text, (error) => api.reportFault?.(error)))
    },
  }),
  get('/api/search', {
    says: 'Searches messages: q, the filters, from, to, sort, group, facets, explain.',
    query: params.parametersOf({
      q: params.text(),
      ...filterParameters,
      ...params.dates,
      sort: params.oneOf(searchSorts),
      group: params.oneOf(['chat']),
      facets: params.listOf(facetNames),
      explain: params.flag(),
      literal: params.flag(),
      redact: params.flag(),
      withoutActive: params.flag(),
      limit: params.limit(),
      offset: params.offset(OFFSET_MAX),
    }),
    answer: searchAnswer,
    handle: async ({ query, c }, api) => {
      const clock = params.readClock(query.tz, api)
      // Only checks the dates: the search itself reads them like the dates in a query.
      params.readBounds(query, clock)
      const request: SearchRequest = {
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
    query: params.parametersOf({ q: params.text(), tz: params.dates.tz, ...params.page }),
    answer: foundInChat,
    handle: async ({ id, query: { q, tz, ...range }, c }, api) => {
      const chatId = asChatId(id)
      if (getChat(api.mirror(), chatId) === null) throw notFound('chat', id)
      const request = { chatId, q: q ?? '', clock: params.readClock(tz, api), ...range }
      return asJson(c, await api.ask({ kind: 'find', request }))
    },
  }),
  get('/api/suggest', {
    says: 'Completes q while it is typed: chats, projects, tools, files, words.',
    query: params.parametersOf({ q: params.text(), limit: params.limit(SUGGESTIONS_MAX, SUGGESTIONS_DEFAULT) }),
    answer: suggestAnswer,
    handle: async ({ query, c }, api) =>
      asJson(c, await api.ask({ kind: 'suggest', request: { q: query.q ?? '', limit: query.limit } })),
  }),
]

/** The search process answers in JSON already. */
const asJson = (c: Context, body: string): Response => c.body(body, 200, { 'content-type': 'application/json' })

/** UTF-16 units per piece. Making one takes a few milliseconds, during which no other request is answered. */
const PIECE_LENGTH = 256 * 1024

/**
 * Text as the body of a response, made as fast as the client reads. Other requests are answered between two pieces: a
 * client on the same machine reads each piece at once, and a long text would block all others until its end.
 * @param onFault called with an error that ends the text early. The connection is then reset, so that the client does
 * not take a part for the whole
 */
export function textStream(stretches: Iterable<string>, onFault: (error: unknown) => void): ReadableStream<Uint8Array> {
  const pieces = piecesOf(stretches, onFault)
  return new ReadableStream({
    async pull(stream) {
      const { done, value } = await pieces.next()
      if (done === true) stream.close()
      else stream.enqueue(value)
    },
    cancel: async () => void (await pieces.return(undefined)),
  })
}

async function* piecesOf(stretches: Iterable<string>, onFault: (error: unknown) => void): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  let piece = ''
  try {
    for (const stretch of stretches) {
      piece += stretch
      if (piece.length < PIECE_LENGTH) continue
      yield encoder.encode(piece)
      piece = ''
      await nextTurn()
    }
  } catch (error) {
    onFault(error)
    // The server prints this error. A SyntaxError of `JSON.parse` would quote the chat.
    throw error instanceof SyntaxError ? new Error('the text ended early') : error
  }
  yield encoder.encode(piece)
}
