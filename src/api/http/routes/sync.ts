import { Hono } from 'hono'
import * as z from 'zod/mini'
import { readBody } from '../json-body.ts'
import { noParameters, readQuery } from '../params.ts'
import type { ApiWorld } from '../world.ts'

const body = z.object({ full: z._default(z.boolean('must be true or false'), false) })

export function syncRoutes(world: ApiWorld): Hono {
  return new Hono().post('/api/sync', async (c) => {
    readQuery(c, noParameters)
    const { full } = await readBody(c, body)
    return c.json(await world.sync({ full }))
  })
}
