import { Hono } from 'hono'
import type { Given, McpSource } from '../../mcp/source.ts'
import type { ApiContext } from '../../context.ts'
import { UserError } from '../../../model/user-error.ts'

type Fetch = (request: Request) => Response | Promise<Response>
type Answer = (request: Request) => Promise<Response>

/** `/mcp`: the tools for agents, over the routes of this app. The SDK takes 27 MB, so it is loaded at the first use. */
export function mcpRoutes(context: ApiContext, fetch: Fetch): Hono {
  let answer: Promise<Answer> | null = null
  return new Hono().all('/mcp', async (c) => {
    answer ??= load(context, fetch)
    return (await answer)(c.req.raw)
  })
}

async function load(context: ApiContext, fetch: Fetch): Promise<Answer> {
  const [{ createMcpHandler }, { createMcpServer }, { queryOf }] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('../../mcp/server.ts'),
    import('../../mcp/source.ts'),
  ])
  const source: McpSource = {
    version: context.version,
    now: () => context.now(),
    get: (path, query: Readonly<Record<string, Given>> = {}) =>
      ask(context, fetch, `${path}?${queryOf(query).toString()}`),
  }
  const handler = createMcpHandler(() => createMcpServer(source, { isRedacted: true }))
  return (request) => handler.fetch(request)
}

/** Calls a route of this app. The client has already passed the guard, so the call carries what the guard wants. */
async function ask({ access }: ApiContext, fetch: Fetch, path: string): Promise<unknown> {
  const [host = 'localhost'] = access.allowedHosts()
  const headers = { host, ...(access.token === null ? {} : { authorization: `Bearer ${access.token}` }) }
  const response = await fetch(new Request(`http://${host}${path}`, { headers }))
  const body = (await response.json()) as { readonly detail?: string; readonly code?: string }
  if (response.status >= 400)
    throw new UserError(body.code ?? 'failed', body.detail ?? `It failed with ${response.status}.`, '')
  return body
}
