import { Hono } from 'hono'
import { noParameters, readQuery } from '../params.ts'

/** Does no work: it answers as long as the event loop turns. */
export function healthRoutes(version: string): Hono {
  return new Hono().get('/api/health', (c) => {
    readQuery(c, noParameters)
    return c.json({ status: 'ok', version })
  })
}
