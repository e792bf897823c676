import { asChatId } from '../../../model/ids.ts'
import { chatAnswer, chatsAnswer, lossesAnswer } from '../../answers/chats.ts'
import { messagesAnswer } from '../../answers/messages.ts'
import { getChat } from '../../queries/chats/get-chat.ts'
import { chatSorts, listChats } from '../../queries/chats/list-chats.ts'
import { imageTypes, readImage } from '../../queries/images.ts'
import { listMessages } from '../../queries/messages.ts'
import { listLosses } from '../../queries/sources.ts'
import { readMatches, withMatches } from './projects.ts'
import { readBounds, readClock, scopeOf, dates, flag, oneOf, page, parametersOf, text, word, words } from '../params.ts'
import { notFound } from '../problem.ts'
import { get } from '../route.ts'
import { exportChat } from '../../export/export-chat.ts'
import { exportFormats } from '../../export/formats.ts'
import { toIso } from '../../queries/answer-row.ts'
import { textStream } from '../text-stream.ts'

export const chatRoutes = [
  get('/api/chats/:id/image', {
    says: 'An attached image of a message, while its file is on this machine: message, path.',
    query: parametersOf({ message: word(), path: word() }),
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
    query: parametersOf({
      project: words(),
      ...dates,
      mode: words(),
      branch: words(),
      model: words(),
      machine: words(),
      archived: flag(),
      deleted: flag(),
      subagents: flag(),
      includeEmpty: flag(),
      idPrefix: word(),
      q: text(),
      sort: oneOf(chatSorts),
      commit: word(),
      repo: word(),
      ...page,
    }),
    answer: chatsAnswer,
    problems: [404, 409],
    handle: async ({ query }, api) => {
      const bounds = readBounds(query, readClock(query.tz, api))
      const matches = await readMatches(api, query)
      const db = api.mirror()
      const scores = matches === null ? null : new Map(matches.map(({ num }, place) => [num, -place]))
      const found = listChats(db, { ...query, ...scopeOf(db, query), ...bounds, scores })
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
    query: parametersOf({ ...page, around: word(), includeOrphans: flag() }),
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
    query: parametersOf({ project: words(), machine: words(), ...dates, ...page }),
    answer: lossesAnswer,
    handle: ({ query }, api) => {
      const bounds = readBounds(query, readClock(query.tz, api))
      const db = api.mirror()
      return listLosses(db, { ...scopeOf(db, query), ...bounds, limit: query.limit, offset: query.offset })
    },
  }),
]

export const exportRoutes = [
  get('/api/chats/:id/export', {
    says: 'A chat as a file: as=markdown|json|jsonl|html, includeOrphans, redact=true to mask secrets.',
    query: parametersOf({ as: oneOf(exportFormats), includeOrphans: flag(), redact: flag() }),
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
]
