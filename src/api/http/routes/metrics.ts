import { Hono, type MiddlewareHandler } from 'hono'
import type { Metrics } from '../metrics.ts'
import { noParameters, readQuery } from '../params.ts'
import { Problem } from '../problem.ts'
import type { ReadStatus } from '../read-status.ts'
import { patternOf } from '../route-table.ts'

type LoadMetrics = () => Promise<Metrics>

/** Loads prom-client, which takes 4 MB, at the first request for metrics. */
export function lazyMetrics(): { readonly load: LoadMetrics; readonly loaded: () => Metrics | null } {
  let metrics: Metrics | null = null
  return {
    loaded: () => metrics,
    load: async () => {
      const { Metrics: Made } = await import('../metrics.ts')
      return (metrics ??= new Made())
    },
  }
}

/** Counts requests by route and status, once somebody has asked for metrics. */
export function countRequests(loaded: () => Metrics | null): MiddlewareHandler {
  return async (c, next) => {
    const metrics = loaded()
    if (metrics === null) return next()
    const startedAt = performance.now()
    await next()
    const route = patternOf(c.req.path) ?? (c.req.path === '/mcp' ? '/mcp' : 'other')
    metrics.noteRequest(route, c.req.method, c.res.status, performance.now() - startedAt)
  }
}

export function metricRoutes(readStatus: ReadStatus, load: LoadMetrics): Hono {
  return new Hono().get('/metrics', async (c) => {
    readQuery(c, noParameters)
    const metrics = await load()
    c.header('content-type', metrics.contentType)
    return c.body(await metrics.render(readStatus()))
  })
}

/** 200 if all that Cursor had at the start can be found, or everything that can be read. For scripts that wait. */
export function readyRoutes(readStatus: ReadStatus): Hono {
  return new Hono().get('/api/ready', (c) => {
    readQuery(c, noParameters)
    const { state, reasons, progress } = readStatus()
    if (state === 'ready' || state === 'degraded') return c.json({ state, reasons })
    const done = progress === null ? '' : ` ${progress.done} of ${progress.total} ${progress.stage} steps are done.`
    throw new Problem(503, state, `The daemon is ${state}.${done} ${reasons.join(' ')}`.trim())
  })
}
