import { Hono, type MiddlewareHandler } from 'hono'
import { guard, securityHeaders } from './guard.ts'
import { limitBodies } from './json-body.ts'
import { asProblem, isFault, Problem, problemResponse } from './problem.ts'
import { createStatusReader } from './read-status.ts'
import { methodsOf } from './route-table.ts'
import { archiveRoutes } from './routes/archives.ts'
import { chatRoutes, lossRoutes } from './routes/chats.ts'
import { commitRoutes } from './routes/commits.ts'
import { eventRoutes } from './routes/events.ts'
import { exportRoutes } from './routes/export.ts'
import { healthRoutes, statusRoutes, pageRoutes, syncRoutes } from './routes/status.ts'
import { projectRoutes, statsRoutes } from './routes/projects.ts'
import { purgeRoutes } from './routes/purge.ts'
import { searchRoutes, suggestRoutes } from './routes/search.ts'
import { tokenRoutes } from './routes/tokens.ts'
import { tellUnread } from './unread.ts'
import type { ApiContext } from './api-context.ts'

/** What is answered out of the mirror alone; a search says among its warnings what is missing there. */
const READ_FROM_MIRROR = ['chats', 'projects', 'stats', 'tokens', 'commits', 'losses'].map((name) => `/api/${name}/*`)

/** The HTTP side of the daemon, whole; `fetch` of what it gives is a server's handler. */
export function createApp(world: ApiContext): Hono {
  const app = new Hono({ getPath: rawPath })
  const readStatus = createStatusReader(world)

  app.onError((error) => {
    const problem = asProblem(error)
    if (isFault(problem)) world.reportFault?.(error)
    return problemResponse(problem)
  })
  app.notFound((c) => problemResponse(missing(rawPath(c.req.raw))))

  app.use(securityHeaders(), guard(world.access), refuseMalformedPaths(), limitBodies())
  for (const path of READ_FROM_MIRROR) app.use(path, tellUnread(world))
  for (const routes of [
    healthRoutes(world),
    statusRoutes(readStatus),
    searchRoutes(world),
    suggestRoutes(world),
    chatRoutes(world),
    exportRoutes(world),
    projectRoutes(world),
    commitRoutes(world),
    statsRoutes(world),
    lossRoutes(world),
    tokenRoutes(world),
    archiveRoutes(world),
    syncRoutes(world),
    purgeRoutes(world),
    eventRoutes(world, readStatus),
    pageRoutes(readStatus),
  ]) {
    app.route('/', routes)
  }
  return app
}

function missing(path: string): Problem {
  const methods = methodsOf(path)
  if (methods.length === 0) return new Problem(404, 'not-found', 'There is nothing here. GET / lists what there is.')
  const allow = methods.join(', ')
  return new Problem(405, 'method-not-allowed', `This can be asked with ${allow}.`, { headers: { allow } })
}

/**
 * The path as it was sent, percent-encoding and all. Routes are matched against this, so that `%2F` in an id is no
 * separator, and a parameter is decoded once, by the router.
 */
export function rawPath(request: Request): string {
  return new URL(request.url).pathname
}

/** The router would hand on a malformed encoding as it stands: it is refused before. */
export function refuseMalformedPaths(): MiddlewareHandler {
  return async (c, next) => {
    if (!isWellFormed(rawPath(c.req.raw))) {
      throw new Problem(400, 'bad-encoding', 'The path holds a percent sign that encodes nothing.')
    }
    await next()
  }
}

function isWellFormed(path: string): boolean {
  try {
    // Looked at, for a bundler leaves out a call of which nobody takes what it gives.
    return decodeURIComponent(path).length > 0
  } catch (error) {
    if (error instanceof URIError) return false
    throw error
  }
}
