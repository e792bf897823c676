import type { RequestListener } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { createApp } from '../../api/http/app.ts'
import { Problem, problemResponse } from '../../api/http/problem.ts'
import type { ApiContext } from '../../api/context.ts'

/** Answers requests. Loading this takes longer than the rest of a start, so it is loaded after the port is open. */
export const answerFrom = (context: ApiContext): RequestListener => listenerOf(createApp(context).fetch)

type Fetch = (request: Request) => Response | Promise<Response>

export function listenerOf(fetch: Fetch): RequestListener {
  const answer = getRequestListener(fetch, { errorHandler: refuseTarget })
  return (request, response) => void answer(request, response)
}

/** Refuses a target that Node accepts and that is not a URL, for example one with a backslash. */
function refuseTarget(): Response {
  const headers = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' }
  return problemResponse(new Problem(400, 'bad-target', 'The target of this request is not a path.', { headers }))
}
