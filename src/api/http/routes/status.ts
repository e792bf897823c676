import { Hono } from 'hono'
import { noParameters, readQuery } from '../params.ts'
import type { ReadStatus } from '../read-status.ts'
import type { ApiContext } from '../../context.ts'
import { readBody } from '../json-body.ts'
import { syncBody } from '../route-parameters.ts'

export function statusRoutes(readStatus: ReadStatus): Hono {
  return new Hono().get('/api/status', (c) => {
    readQuery(c, noParameters)
    return c.json(readStatus())
  })
}

/** Does no work: it answers while the event loop runs. `startedAt` shows which daemon answers. */
export function healthRoutes({ version, startedAt }: Pick<ApiContext, 'version' | 'startedAt'>): Hono {
  return new Hono().get('/api/health', (c) => {
    readQuery(c, noParameters)
    return c.json({ status: 'ok', version, startedAt })
  })
}

export function syncRoutes(context: ApiContext): Hono {
  return new Hono().post('/api/sync', async (c) => {
    readQuery(c, noParameters)
    const { full } = await readBody(c, syncBody)
    return c.json(await context.sync({ full }))
  })
}
