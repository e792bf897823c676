import { Hono } from 'hono'
import { roles } from '../../../model/message.ts'
import { resolveProjects } from '../../queries/resolve-projects.ts'
import { searchSorts } from '../../search/request.ts'
import { readPeriod } from '../dates.ts'
import { anyOf, limit, offset, oneOf, readQuery, text, word, words } from '../params.ts'
import { Problem } from '../problem.ts'
import type { ApiWorld } from '../world.ts'

/** Deeper pages cost more with every hit that is skipped. */
const OFFSET_MAX = 10_000

const parameters = {
  q: text(),
  project: words(),
  role: anyOf(roles),
  chat: words(),
  from: word(),
  to: word(),
  tz: word(),
  sort: oneOf(searchSorts),
  limit: limit(),
  offset: offset(OFFSET_MAX),
}

const notYet = ['in', 'tool', 'model', 'mode', 'path', 'group', 'facets', 'explain']

export function searchRoutes(world: ApiWorld): Hono {
  return new Hono().get('/api/search', async (c) => {
    const query = readQuery(c, parameters, { notYet })
    const { fromMs, toMs } = readPeriod(query, world.timeZone)
    const answer = await world.search({
      q: query.q ?? '',
      projectNums: query.project === null ? null : resolveProjects(world.mirror(), query.project),
      roles: query.role,
      chatIds: query.chat,
      fromMs,
      toMs,
      sort: query.sort ?? 'relevance',
      limit: query.limit,
      offset: query.offset,
    })
    if (answer.isPartial && answer.items.length === 0) {
      throw new Problem(503, 'deadline', 'The search ran out of time before it found anything. Ask for rarer words.')
    }
    return c.json({ ...answer, limit: query.limit, offset: query.offset })
  })
}
