import { Hono } from 'hono'
import { noParameters, readQuery } from '../params.ts'
import type { ApiWorld } from '../world.ts'

/** Does no work: it answers as long as the event loop turns. When it began tells which daemon it is. */
export function healthRoutes({ version, startedAt }: Pick<ApiWorld, 'version' | 'startedAt'>): Hono {
  return new Hono().get('/api/health', (c) => {
    readQuery(c, noParameters)
    return c.json({ status: 'ok', version, startedAt })
  })
}
