import { Hono } from 'hono'
import type { ApiContext } from '../../context.ts'
import type { HubActs } from '../../answers/hub.ts'
import { readBody } from '../json-body.ts'
import { noParameters, readQuery } from '../params.ts'
import { Problem } from '../problem.ts'
import { hubPullBody, hubPushBody } from '../route-parameters.ts'

export function hubRoutes(context: ApiContext): Hono {
  const acts = (): HubActs => {
    if (context.hub === undefined) throw new Problem(503, 'no-writer', 'This process cannot write to the mirror.')
    return context.hub
  }
  return new Hono()
    .get('/api/hub', async (c) => {
      readQuery(c, noParameters)
      return c.json(await acts().state())
    })
    .post('/api/hub/push', async (c) => {
      readQuery(c, noParameters)
      const { projects, dryRun } = await readBody(c, hubPushBody)
      return c.json(await acts().push({ projects, isDryRun: dryRun }))
    })
    .post('/api/hub/pull', async (c) => {
      readQuery(c, noParameters)
      const { projects } = await readBody(c, hubPullBody)
      return c.json(await acts().pull(projects))
    })
}
