import { Hono, type MiddlewareHandler } from 'hono'
import { guard, securityHeaders } from './guard.ts'
import { compressJson } from './compress-json.ts'
import { limitBodies } from './json-body.ts'
import { asProblem, isFault, Problem, problemResponse } from './problem.ts'
import { createStatusReader } from './read-status.ts'
import { methodsOf } from './route-table.ts'
import { archiveRoutes } from './routes/archives.ts'
import { chatRoutes, lossRoutes } from './routes/chats.ts'
import { commitRoutes } from './routes/commits.ts'
import { docsRoutes } from './routes/docs.ts'
import { eventRoutes } from './routes/events.ts'
import { mcpRoutes } from './routes/mcp.ts'
import { countRequests, lazyMetrics, metricRoutes, readyRoutes } from './routes/metrics.ts'
import { exportRoutes } from './routes/export.ts'
import { healthRoutes, statusRoutes, syncRoutes } from './routes/status.ts'
import { pageRoutes } from './routes/page.ts'
import { projectRoutes, statsRoutes } from './routes/projects.ts'
import { hubRoutes } from './routes/hub.ts'
import { purgeRoutes } from './routes/purge.ts'
import { searchRoutes, suggestRoutes } from './routes/search.ts'
import { tokenRoutes } from './routes/tokens.ts'
import { warnOfUnread } from './unread.ts'
import type { ApiContext } from '../context.ts'

/** Routes that read the mirror only. A header says if the mirror is incomplete; a search says so in its warnings. */
const READ_FROM_MIRROR = ['chats', 'projects', 'stats', 'tokens', 'commits', 'losses'].map((name) => `/api/${name}/*`)

/** The daemon's HTTP application. Its `fetch` is a request handler for a server. */
export function createApp(context: ApiContext): Hono {
  const app = new Hono({ getPath: rawPath })
  const readStatus = createStatusReader(context)

  app.onError((error) => {
    const problem = asProblem(error)
    if (isFault(problem)) context.reportFault?.(error)
    return problemResponse(problem)
  })
  app.notFound((c) => problemResponse(missing(rawPath(c.req.raw))))

  const metrics = lazyMetrics()
  app.use(countRequests(metrics.loaded), compressJson(), securityHeaders())
  app.use(guard(context.access), refuseMalformedPaths(), limitBodies())
  for (const path of READ_FROM_MIRROR) app.use(path, warnOfUnread(context))
  for (const routes of [
    healthRoutes(context),
    statusRoutes(readStatus),
    readyRoutes(readStatus),
    metricRoutes(readStatus, metrics.load),
    mcpRoutes(context, (request) => app.fetch(request)),
    searchRoutes(context),
    suggestRoutes(context),
    chatRoutes(context),
    exportRoutes(context),
    projectRoutes(context),
    commitRoutes(context),
    statsRoutes(context),
    lossRoutes(context),
    tokenRoutes(context),
    archiveRoutes(context),
    syncRoutes(context),
    purgeRoutes(context),
    hubRoutes(context),
    eventRoutes(context, readStatus),
    pageRoutes(context),
    docsRoutes(context),
  ]) {
    app.route('/', routes)
  }
  return app
}

function missing(path: string): Problem {
  const methods = methodsOf(path)
  if (methods.length === 0)
    return new Problem(404, 'not-found', 'There is no such route. GET / is the page. docs/http.md lists all routes.')
  const allow = methods.join(', ')
  return new Problem(405, 'method-not-allowed', `This route takes ${allow}.`, { headers: { allow } })
}

/**
 * The path as it was sent, still percent-encoded. Routes are matched against it, so that `%2F` in an id is no separator
 * and the router decodes each parameter once.
 */
export function rawPath(request: Request): string {
  return new URL(request.url).pathname
}

/** Refuses malformed percent-encoding, which the router would pass on undecoded. @throws Problem 400 */
export function refuseMalformedPaths(): MiddlewareHandler {
  return async (c, next) => {
    if (!isWellFormed(rawPath(c.req.raw))) {
      throw new Problem(400, 'bad-encoding', 'The path contains a percent sign that encodes nothing.')
    }
    await next()
  }
}

function isWellFormed(path: string): boolean {
  try {
    // The result is used, because a bundler removes a call whose result is unused.
    return decodeURIComponent(path).length > 0
  } catch (error) {
    if (error instanceof URIError) return false
    throw error
  }
}
