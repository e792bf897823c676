import { Hono } from 'hono'
import { listLosses } from '../../queries/sources/list-losses.ts'
import { resolveProjects } from '../../queries/projects/resolve-projects.ts'
import { readBounds, readClock } from '../dates.ts'
import { limit, offset, parametersOf, readQuery, word, words } from '../params.ts'
import type { ApiWorld } from '../world.ts'

const parameters = parametersOf({
  project: words(),
  from: word(),
  to: word(),
  tz: word(),
  limit: limit(),
  offset: offset(),
})

export function lossRoutes(world: ApiWorld): Hono {
  return new Hono().get('/api/losses', (c) => {
    const query = readQuery(c, parameters)
    const { fromMs, toMs } = readBounds(query, readClock(query.tz, world))
    const db = world.mirror()
    const projectNums = query.project === null ? null : resolveProjects(db, query.project)
    return c.json(listLosses(db, { projectNums, fromMs, toMs, limit: query.limit, offset: query.offset }))
  })
}
