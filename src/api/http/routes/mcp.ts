import { Hono } from 'hono'
import type { ApiContext } from '../../context.ts'
import type { ApiRoutes } from '../routes.ts'
import { UserError } from '../../../model/user-error.ts'
import { createClient } from '../../../shared/client.ts'

/** Calls a route of this app: the client of `/mcp` has already passed the guard. */
type Ask = (path: string) => Response | Promise<Response>
type Answer = (request: Request) => Promise<Response>

/** `/mcp`: the tools for agents, over the routes of this app. The SDK takes 27 MB, so it is loaded at the first use. */
export function mcpRoutes(context: ApiContext, ask: Ask): Hono {
  let answer: Promise<Answer> | null = null
  return new Hono().all('/mcp', async (c) => {
    answer ??= load(context, ask)
    return (await answer)(c.req.raw)
  })
}

async function load({ version }: ApiContext, ask: Ask): Promise<Answer> {
  const [{ createMcpHandler }, { createMcpServer }] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('../../mcp/server.ts'),
  ])
  const client = createClient<ApiRoutes>(async (path) => {
    const response = await ask(path)
    if (response.status < 400) return response
    const { code, detail } = (await response.json()) as { readonly detail?: string; readonly code?: string }
    throw new UserError(code ?? 'failed', detail ?? `It failed with ${response.status}.`, '')
  })
  const handler = createMcpHandler(() => createMcpServer({ client, version, isRedacted: true }))
  return (request) => handler.fetch(request)
}
