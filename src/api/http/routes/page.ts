import { Hono } from 'hono'
import { renderStatePage, STATE_PAGE_CSP } from '../../web/state-page.ts'
import { noParameters, readQuery } from '../params.ts'
import type { ReadStatus } from '../read-status.ts'
import { routeTable } from '../route-table.ts'

export function pageRoutes(readStatus: ReadStatus): Hono {
  return new Hono().get('/', (c) => {
    readQuery(c, noParameters)
    c.header('content-security-policy', STATE_PAGE_CSP)
    return c.html(renderStatePage(readStatus(), routeTable))
  })
}
