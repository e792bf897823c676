import { Hono } from 'hono'
import { noParameters, readQuery } from '../params.ts'
import type { ReadStatus } from '../read-status.ts'

export function statusRoutes(readStatus: ReadStatus): Hono {
  return new Hono().get('/api/status', (c) => {
    readQuery(c, noParameters)
    return c.json(readStatus())
  })
}
