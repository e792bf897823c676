import type { RequestListener } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { createApp } from '../../api/http/app.ts'
import { Problem, problemResponse } from '../../api/http/problem.ts'
import type { ApiContext } from '../../api/http/api-context.ts'

/** What answers requests. Loading it takes longer than all that a start needs: it is loaded when the port is open. */
export const answerFrom = (world: ApiContext): RequestListener => listenerOf(createApp(world).fetch)

type Fetch = (request: Request) => Response | Promise<Response>

export function listenerOf(fetch: Fetch): RequestListener {
  const answer = getRequestListener(fetch, { errorHandler: refuseTarget })
  return (request, response) => void answer(request, response)
}

/** A target that Node takes and that is no address: a backslash in it, say. */
function refuseTarget(): Response {
  const headers = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' }
  return problemResponse(new Problem(400, 'bad-target', 'The target of this request is no path.', { headers }))
}
