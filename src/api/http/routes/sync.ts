import { Hono } from 'hono'
import { z } from 'zod'
import { readBody } from '../json-body.ts'
import { readQuery } from '../params.ts'
import type { ApiWorld } from '../world.ts'

const body = z.object({ full: z.boolean('must be true or false').default(false) })

export function syncRoutes(world: ApiWorld): Hono {
  return new Hono().post('/api/sync', async (c) => {
    readQuery(c, {})
    const { full } = await readBody(c, body)
    return c.json(await world.sync({ full }))
  })
}
