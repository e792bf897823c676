import { Hono } from 'hono'
import { asProjectId } from '../../../model/ids.ts'
import { bucketUnits } from '../../buckets.ts'
import { getProject } from '../../queries/projects/get-project.ts'
import { resolveProjects } from '../../queries/projects/resolve-projects.ts'
import type { Stats } from '../../reports/stats/stats.ts'
import { readBounds, readClock } from '../dates.ts'
import { oneOf, parametersOf, readQuery, word, words, type Params } from '../params.ts'
import { badParameters, notFound } from '../problem.ts'
import type { ApiWorld } from '../world.ts'

const parameters = parametersOf({ from: word(), to: word(), bucket: oneOf(bucketUnits), tz: word() })
const ofProjects = parametersOf({ ...parameters.shape, project: words() })

export function statsRoutes(world: ApiWorld): Hono {
  const routes = new Hono()

  routes.get('/api/stats', async (c) => {
    const query = readQuery(c, ofProjects)
    const projectNums = query.project === null ? null : resolveProjects(world.mirror(), query.project)
    return c.json(await askStats(world, query, projectNums))
  })

  routes.get('/api/projects/:id/stats', async (c) => {
    const query = readQuery(c, parameters)
    const id = asProjectId(c.req.param('id'))
    if (getProject(world.mirror(), id) === null) throw notFound('project', id)
    return c.json(await askStats(world, query, resolveProjects(world.mirror(), [id])))
  })

  return routes
}

/** @throws Problem 400 for a series that nobody could read */
async function askStats(
  world: ApiWorld,
  query: Params<typeof parameters>,
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
