import { Hono } from 'hono'
import { asProjectId } from '../../../model/ids.ts'
import { getProject } from '../../queries/get-project.ts'
import { listProjects } from '../../queries/list-projects.ts'
import { limit, noParameters, offset, parametersOf, readQuery } from '../params.ts'
import { Problem } from '../problem.ts'
import type { ApiWorld } from '../world.ts'

const parameters = parametersOf({ limit: limit(), offset: offset() })

export function projectRoutes(world: ApiWorld): Hono {
  const routes = new Hono()

  routes.get('/api/projects', (c) => c.json(listProjects(world.mirror(), readQuery(c, parameters))))

  routes.get('/api/projects/:id', (c) => {
    readQuery(c, noParameters)
    const project = getProject(world.mirror(), asProjectId(c.req.param('id')))
    if (project === null) throw new Problem(404, 'project-not-found', 'No project has this id.')
    return c.json(project)
  })

  return routes
}
