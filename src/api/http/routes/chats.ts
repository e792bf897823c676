import { asChatId } from '../../../model/ids.ts'
import { chatAnswer, chatsAnswer, lossesAnswer } from '../../answers/chats.ts'
import { messagesAnswer } from '../../answers/messages.ts'
import { getChat } from '../../queries/chats/get-chat.ts'
import { chatSorts, listChats, scoresByIdPrefix } from '../../queries/chats/list-chats.ts'
import { imageTypes, readImage } from '../../queries/messages/images.ts'
import { listMessages } from '../../queries/messages/list-messages.ts'
import { listLosses } from '../../queries/sources/list-losses.ts'
import { readMatches, withMatches } from './commits.ts'
import { readBounds, readClock, scopeOf } from '../dates.ts'
import { dates, flag, oneOf, page, parametersOf, text, word, words } from '../params.ts'
import { notFound, Problem } from '../problem.ts'
import { route } from '../route.ts'

export const chatRoutes = [
  route({
    method: 'GET',
    path: '/api/chats/:id/image',
    says: 'An attached image of a message, while its file is on this machine: message, path.',
    query: parametersOf({ message: word(), path: word() }),
    answer: imageTypes,
    problems: [404],
    handle: ({ id, query: { message, path }, c }, api) => {
      const image = readImage(api.mirror(), { chat: asChatId(id), message: message ?? '', path: path ?? '' })
      if (image === null) throw notFound('image', path ?? '')
      c.header('content-type', image.mime)
      c.header('content-security-policy', "default-src 'none'; sandbox")
      return c.body(image.bytes)
    },
  }),
  route({
    method: 'GET',
    path: '/api/chats',
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
      const found = listChats(db, {
        ...scopeOf(db, query),
        ...bounds,
        modes: query.mode,
        branches: query.branch,
        models: query.model,
        archived: query.archived,
        deleted: query.deleted,
        subagents: query.subagents ?? false,
        includeEmpty: query.includeEmpty ?? false,
        titleWords: query.q,
        scores: query.idPrefix === null ? scores : scoresByIdPrefix(db, query.idPrefix, scores),
        sort: query.sort,
        limit: query.limit,
        offset: query.offset,
      })
      return matches === null ? found : { ...found, items: withMatches(found.items, matches) }
    },
  }),
  route({
    method: 'GET',
    path: '/api/chats/:id',
    says: 'One chat, with its files, tools and subagents.',
    answer: chatAnswer,
    problems: [404],
    handle: ({ id }, api) => {
      const chat = getChat(api.mirror(), asChatId(id))
      if (chat === null) throw notFound('chat', id)
      return chat
    },
  }),
  route({
    method: 'GET',
    path: '/api/chats/:id/messages',
    says: "A chat's messages in order; around=<messageId>.",
    query: parametersOf({ ...page, around: word(), includeOrphans: flag() }),
    answer: messagesAnswer,
    problems: [404],
    handle: ({ id, query: { around, includeOrphans, ...range } }, api) => {
      const request = { chatId: asChatId(id), around, includeOrphans: includeOrphans ?? false, ...range }
      const list = listMessages(api.mirror(), request)
      if (list.kind === 'unknown-chat') throw notFound('chat', id)
      if (list.kind === 'unknown-message') throw unknownMessage(list.isOrphan)
      if (list.kind === 'page') return list.page
      const detail = `${list.count} messages of the chat have an id that begins with ${around}.`
      throw new Problem(400, 'several-messages', detail)
    },
  }),
  route({
    method: 'GET',
    path: '/api/losses',
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

function unknownMessage(isOrphan: boolean): Problem {
  const detail = isOrphan
    ? 'This message is an orphan: add includeOrphans=true.'
    : 'No message of this chat has the id given as "around".'
  return new Problem(404, 'message-not-found', detail)
}
