import { Hono } from 'hono'
import { asProjectId } from '../../../model/ids.ts'
import { getProject, listProjects, resolveProjects } from '../../queries/projects/list-projects.ts'
import { limit, noParameters, offset, parametersOf, readQuery, oneOf, word, words, type Params } from '../params.ts'
import { notFound, badParameters } from '../problem.ts'
import type { ApiContext } from '../api-context.ts'
import { bucketUnits } from '../../buckets.ts'
import type { Stats } from '../../reports/stats/stats.ts'
import { readBounds, readClock } from '../dates.ts'

const listParameters = parametersOf({ limit: limit(), offset: offset() })

export function projectRoutes(world: ApiContext): Hono {
  const routes = new Hono()

  routes.get('/api/projects', (c) => c.json(listProjects(world.mirror(), readQuery(c, listParameters))))

  routes.get('/api/projects/:id', (c) => {
    readQuery(c, noParameters)
    const id = c.req.param('id')
    const project = getProject(world.mirror(), asProjectId(id))
    if (project === null) throw notFound('project', id)
    return c.json(project)
  })

  return routes
}

const statsParameters = parametersOf({ from: word(), to: word(), bucket: oneOf(bucketUnits), tz: word() })
const allStatsParameters = parametersOf({ ...statsParameters.shape, project: words() })

export function statsRoutes(world: ApiContext): Hono {
  const routes = new Hono()

  routes.get('/api/stats', async (c) => {
    const query = readQuery(c, allStatsParameters)
    const projectNums = query.project === null ? null : resolveProjects(world.mirror(), query.project)
    return c.json(await askStats(world, query, projectNums))
  })

  routes.get('/api/projects/:id/stats', async (c) => {
    const query = readQuery(c, statsParameters)
    const id = asProjectId(c.req.param('id'))
    if (getProject(world.mirror(), id) === null) throw notFound('project', id)
    return c.json(await askStats(world, query, resolveProjects(world.mirror(), [id])))
  })

  return routes
}

/** @throws Problem 400 for a series that nobody could read */
async function askStats(
  world: ApiContext,
  query: Params<typeof statsParameters>,
  projectNums: readonly number[] | null,
): Promise<Stats> {
  const clock = readClock(query.tz, world)
  const bounds = readBounds(query, clock)
  const request = { projectNums, ...bounds, bucket: query.bucket ?? 'day', timeZone: clock.timeZone } as const
  const answer = await world.ask({ kind: 'stats', request })
  if (answer.kind === 'stats') return answer.stats
  const reason = `gives ${answer.count} rows, and ${answer.max} is the most: ask by week or month, or with from and to`
  throw badParameters([{ name: 'bucket', reason }])
}
