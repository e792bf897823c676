import { Hono } from 'hono'
import { asProjectId } from '../../../model/ids.ts'
import { resolveMachines } from '../../queries/machines.ts'
import { getProject, listProjects, resolveProjects } from '../../queries/projects/list-projects.ts'
import { noParameters, readQuery, type Params } from '../params.ts'
import { notFound, badParameters } from '../problem.ts'
import type { ApiContext } from '../../context.ts'
import { readBounds, readClock } from '../dates.ts'
import { projectsParameters, projectStatsParameters, statsParameters } from '../route-parameters.ts'
import type { Stats } from '../../answers/stats.ts'

export function projectRoutes(context: ApiContext): Hono {
  const routes = new Hono()

  routes.get('/api/projects', (c) => c.json(listProjects(context.mirror(), readQuery(c, projectsParameters))))

  routes.get('/api/projects/:id', (c) => {
    readQuery(c, noParameters)
    const id = c.req.param('id')
    const project = getProject(context.mirror(), asProjectId(id))
    if (project === null) throw notFound('project', id)
    return c.json(project)
  })

  return routes
}

export function statsRoutes(context: ApiContext): Hono {
  const routes = new Hono()

  routes.get('/api/stats', async (c) => {
    const query = readQuery(c, statsParameters)
    const projectNums = query.project === null ? null : resolveProjects(context.mirror(), query.project)
    return c.json(await askStats(context, query, projectNums))
  })

  routes.get('/api/projects/:id/stats', async (c) => {
    const query = readQuery(c, projectStatsParameters)
    const id = asProjectId(c.req.param('id'))
    if (getProject(context.mirror(), id) === null) throw notFound('project', id)
    return c.json(await askStats(context, query, resolveProjects(context.mirror(), [id])))
  })

  return routes
}

/** @throws Problem 400 if the series would have too many buckets */
async function askStats(
  context: ApiContext,
  query: Params<typeof projectStatsParameters>,
  projectNums: readonly number[] | null,
): Promise<Stats> {
  const clock = readClock(query.tz, context)
  const bounds = readBounds(query, clock)
  const machineNums = query.machine === null ? null : resolveMachines(context.mirror(), query.machine)
  const request = {
    projectNums,
    machineNums,
    ...bounds,
    bucket: query.bucket ?? 'day',
    timeZone: clock.timeZone,
  } as const
  const answer = await context.ask({ kind: 'stats', request })
  if (answer.kind === 'stats') return answer.stats
  const reason = `gives ${answer.count} rows, but at most ${answer.max} are allowed: use week or month, or set from and to`
  throw badParameters([{ name: 'bucket', reason }])
}
