import { Hono } from 'hono'
import { limit, parametersOf, readQuery, text } from '../params.ts'
import type { ApiWorld } from '../world.ts'

const LIMIT_MAX = 20
const LIMIT_USUAL = 10

const parameters = parametersOf({ q: text(), limit: limit(LIMIT_MAX, LIMIT_USUAL) })

export function suggestRoutes(world: ApiWorld): Hono {
  return new Hono().get('/api/suggest', async (c) => {
    const query = readQuery(c, parameters)
    return c.json(await world.ask({ kind: 'suggest', request: { q: query.q ?? '', limit: query.limit } }))
  })
}
