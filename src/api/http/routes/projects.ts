import { Hono } from 'hono'
import { asProjectId } from '../../../model/ids.ts'
import { getProject } from '../../queries/projects/get-project.ts'
import { listProjects } from '../../queries/projects/list-projects.ts'
import { limit, noParameters, offset, parametersOf, readQuery } from '../params.ts'
import { notFound } from '../problem.ts'
import type { ApiWorld } from '../world.ts'

const parameters = parametersOf({ limit: limit(), offset: offset() })

export function projectRoutes(world: ApiWorld): Hono {
  const routes = new Hono()

  routes.get('/api/projects', (c) => c.json(listProjects(world.mirror(), readQuery(c, parameters))))

  routes.get('/api/projects/:id', (c) => {
    readQuery(c, noParameters)
    const id = c.req.param('id')
    const project = getProject(world.mirror(), asProjectId(id))
    if (project === null) throw notFound('project', id)
    return c.json(project)
  })

  return routes
}
