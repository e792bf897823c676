import { Hono } from 'hono'
import { guard } from './guard.ts'
import { limitBodies } from './json-body.ts'
import { asProblem, isFault, Problem, problemResponse } from './problem.ts'
import { rawPath, refuseMalformedPaths } from './raw-path.ts'
import { createStatusReader } from './read-status.ts'
import { methodsOf } from './route-table.ts'
import { archiveRoutes } from './routes/archives.ts'
import { chatRoutes } from './routes/chats.ts'
import { commitRoutes } from './routes/commits.ts'
import { eventRoutes } from './routes/events.ts'
import { exportRoutes } from './routes/export.ts'
import { healthRoutes } from './routes/health.ts'
import { lossRoutes } from './routes/losses.ts'
import { pageRoutes } from './routes/page.ts'
import { projectRoutes } from './routes/projects.ts'
import { purgeRoutes } from './routes/purge.ts'
import { searchRoutes } from './routes/search.ts'
import { suggestRoutes } from './routes/suggest.ts'
import { statsRoutes } from './routes/stats.ts'
import { statusRoutes } from './routes/status.ts'
import { syncRoutes } from './routes/sync.ts'
import { tokenRoutes } from './routes/tokens.ts'
import { securityHeaders } from './security-headers.ts'
import { tellUnread } from './unread.ts'
import type { ApiWorld } from './world.ts'

/** What is answered out of the mirror alone; a search says among its warnings what is missing there. */
const READ_FROM_MIRROR = ['chats', 'projects', 'stats', 'tokens', 'commits', 'losses'].map((name) => `/api/${name}/*`)

/** The HTTP side of the daemon, whole; `fetch` of what it gives is a server's handler. */
export function createApp(world: ApiWorld): Hono {
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
