import { Hono, type MiddlewareHandler } from 'hono'
import { compress } from 'hono/compress'
import { guard, securityHeaders } from './guard.ts'
import { limitBodies, readBody, noParameters, readQuery } from './params.ts'
import { asProblem, isFault, Problem, problemResponse } from './problem.ts'
import { createStatusReader, lazyMetrics } from './routes/status.ts'
import { fits, type Api, type Route } from './route.ts'
import { routes, type ApiRoutes } from './routes.ts'
import { ASSET_PATH, pagePaths, pageRoutes } from './routes/page.ts'
import { warnOfUnread } from './unread.ts'
import type { ApiContext } from '../context.ts'
import { UserError } from '../../model/user-error.ts'
import { createClient } from '../../shared/client.ts'

/** Routes that read the mirror only. A header says if the mirror is incomplete; a search says so in its warnings. */
const READ_FROM_MIRROR = ['chats', 'projects', 'stats', 'tokens', 'commits', 'losses'].map((name) => `/api/${name}/*`)

const DOCUMENT = '/openapi.json'

/** Every path, with its methods. To distinguish a wrong method from a wrong path. */
export const allPaths: readonly Pick<Route, 'method' | 'path'>[] = [
  ...routes,
  ...[...pagePaths, ASSET_PATH, DOCUMENT].map((path) => ({ method: 'GET', path }) as const),
]

/** The daemon's HTTP application. Its `fetch` is a request handler for a server. */
export function createApp(context: ApiContext): Hono {
  const app = new Hono({ getPath: rawPath })
  const metrics = lazyMetrics(patternOf)
  // Parts of the context are made when they are needed. A copy would need all of them.
  const api: Api = Object.assign(Object.create(context) as ApiContext, {
    readStatus: createStatusReader(context),
    loadMetrics: metrics.load,
  })

  const answerError = (error: Error): Response => {
    const problem = asProblem(error)
    if (isFault(problem)) context.reportFault?.(error)
    return problemResponse(problem)
  }
  app.onError(answerError)
  app.notFound((c) => problemResponse(missing(rawPath(c.req.raw))))

  app.use(metrics.count, compressAnswers(), securityHeaders())
  app.use(guard(context.access))
  // These requests have no body, and checking for one costs more than all other checks.
  app.use((c, next) => (c.req.method === 'GET' || c.req.method === 'HEAD' ? next() : limitBodies(c, next)))
  for (const path of READ_FROM_MIRROR) app.use(path, warnOfUnread(context))
  // Without the guard, for who has passed it.
  const guarded = new Hono({ getPath: rawPath }).onError(answerError)
  for (const route of routes) addRoute(guarded, route, api)
  app.route('/', guarded)
  app.get(DOCUMENT, async (c) => {
    readQuery(c, noParameters)
    // Loaded only when it is asked for.
    const { openApiDocument } = await import('./openapi.ts')
    return c.json(openApiDocument(context.version))
  })
  const answerMcp = mcpAnswerer(context.version, (path) => guarded.request(path))
  app.all('/mcp', (c) => answerMcp(c.req.raw))
  app.route('/', pageRoutes(context))
  return app
}

/** The page's files, and JSON for clients of other machines. On this machine, compressing takes longer than sending. */
function compressAnswers(): MiddlewareHandler {
  const types = /^(?:text\/(?:javascript|css)|image\/svg|application\/(?:problem\+)?json)/
  const compressed = compress({ encoding: 'gzip', contentTypeFilter: types })
  return (c, next) => {
    const isPlain = isLoopbackHost(c.req.header('host') ?? '') && !fits(ASSET_PATH, c.req.path)
    return isPlain ? next() : compressed(c, next)
  }
}

/** @param host as in the Host header */
const isLoopbackHost = (host: string): boolean => /^(?:127\.0\.0\.1|localhost|\[::1\])(?::|$)/i.test(host)

function addRoute(app: Hono, { query, body, bodyType, status, ...route }: Route, api: Api): void {
  app.on(route.method, route.path, async (c) => {
    const given = {
      id: Object.values(c.req.param())[0] ?? '',
      query: readQuery(c, query ?? noParameters),
      body: route.method === 'POST' && bodyType === undefined ? await readBody(c, body ?? noParameters) : {},
      c,
    }
    // The schemas are those of the handler.
    const answer = await route.handle(given as Parameters<Route['handle']>[0], api)
    return answer instanceof Response ? answer : c.json(answer as object, status ?? 200)
  })
}

const patternOf = (path: string): string | undefined =>
  path === '/mcp' ? path : allPaths.find((route) => fits(route.path, path))?.path

function missing(path: string): Problem {
  const methods = allPaths.filter((route) => fits(route.path, path)).map(({ method }) => method)
  if (methods.length === 0)
    return new Problem(404, 'not-found', 'There is no such route. GET / is the page. docs/http.md lists all routes.')
  const allow = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ')
  return new Problem(405, 'method-not-allowed', `This route takes ${allow}.`, { headers: { allow } })
}

/**
 * The path as it was sent, still percent-encoded. Routes are matched against it, so that `%2F` in an id is no separator
 * and the router decodes each parameter once.
 */
const rawPath = (request: Request): string => new URL(request.url).pathname

/**
 * Answers `/mcp`: the tools for agents, over the routes of this app. The SDK takes 27 MB, so it is loaded at the first use.
 * @param ask calls a route of this app: the client has already passed the guard
 */
function mcpAnswerer(version: string, ask: (path: string) => Response | Promise<Response>) {
  const client = createClient<ApiRoutes>(async (path) => {
    const response = await ask(path)
    if (response.status < 400) return response
    const { code, detail } = (await response.json()) as { readonly detail?: string; readonly code?: string }
    throw new UserError(code ?? 'failed', detail ?? `It failed with ${response.status}.`, '')
  })
  const load = async () => {
    const [{ createMcpHandler }, { createMcpServer }] = await Promise.all([
      import('@modelcontextprotocol/server'),
      import('../mcp/server.ts'),
    ])
    return createMcpHandler(() => createMcpServer({ client, version, isRedacted: true }))
  }
  let handler: ReturnType<typeof load> | undefined
  return async (request: Request): Promise<Response> => (await (handler ??= load())).fetch(request)
}
