import { Hono } from 'hono'
import { asChatId } from '../../../model/ids.ts'
import { getChat } from '../../queries/chats/get-chat.ts'
import { listChats, scoresByIdPrefix } from '../../queries/chats/list-chats.ts'
import { listMessages } from '../../queries/messages/list-messages.ts'
import { resolveMachines } from '../../queries/machines.ts'
import { resolveProjects } from '../../queries/projects/list-projects.ts'
import { readMatches, withMatches } from './commits.ts'
import { readBounds, readClock } from '../dates.ts'
import { noParameters, readQuery } from '../params.ts'
import { notFound, Problem } from '../problem.ts'
import type { ApiContext } from '../../context.ts'
import { listLosses } from '../../queries/sources/list-losses.ts'
import { chatsParameters, lossesParameters, messagesParameters } from '../route-parameters.ts'

export function chatRoutes(context: ApiContext): Hono {
  const routes = new Hono()

  routes.get('/api/chats', async (c) => {
    const query = readQuery(c, chatsParameters)
    const { fromMs, toMs } = readBounds(query, readClock(query.tz, context))
    const matches = await readMatches(context, query)
    const db = context.mirror()
    const scores = matches === null ? null : new Map(matches.map(({ num }, place) => [num, -place]))
    const page = listChats(db, {
      projectNums: query.project === null ? null : resolveProjects(db, query.project),
      fromMs,
      toMs,
      modes: query.mode,
      models: query.model,
      machineNums: query.machine === null ? null : resolveMachines(db, query.machine),
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
    return c.json(matches === null ? page : { ...page, items: withMatches(page.items, matches) })
  })

  routes.get('/api/chats/:id', (c) => {
    readQuery(c, noParameters)
    const id = asChatId(c.req.param('id'))
    const chat = getChat(context.mirror(), id)
    if (chat === null) throw notFound('chat', id)
    return c.json(chat)
  })

  routes.get('/api/chats/:id/messages', (c) => {
    const query = readQuery(c, messagesParameters)
    const chatId = asChatId(c.req.param('id'))
    const list = listMessages(context.mirror(), {
      chatId,
      around: query.around,
      includeOrphans: query.includeOrphans ?? false,
      limit: query.limit,
      offset: query.offset,
    })
    if (list.kind === 'unknown-chat') throw notFound('chat', chatId)
    if (list.kind === 'unknown-message') throw unknownMessage(list.isOrphan)
    if (list.kind === 'several-messages') {
      const detail = `${list.count} messages of the chat have an id that begins with ${query.around}.`
      throw new Problem(400, 'several-messages', detail)
    }
    return c.json(list.page)
  })

  return routes
}

function unknownMessage(isOrphan: boolean): Problem {
  const detail = isOrphan
    ? 'This message is an orphan: add includeOrphans=true.'
    : 'No message of this chat has the id given as "around".'
  return new Problem(404, 'message-not-found', detail)
}

export function lossRoutes(context: ApiContext): Hono {
  return new Hono().get('/api/losses', (c) => {
    const query = readQuery(c, lossesParameters)
    const { fromMs, toMs } = readBounds(query, readClock(query.tz, context))
    const db = context.mirror()
    const projectNums = query.project === null ? null : resolveProjects(db, query.project)
    const machineNums = query.machine === null ? null : resolveMachines(db, query.machine)
    return c.json(listLosses(db, { projectNums, machineNums, fromMs, toMs, limit: query.limit, offset: query.offset }))
  })
}
