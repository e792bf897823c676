import type { MiddlewareHandler } from 'hono'
import type { Metrics } from '../metrics.ts'
import { route } from '../route.ts'

/** Loads prom-client, which takes 4 MB, at the first request for metrics. */
export function lazyMetrics() {
  let metrics: Metrics | null = null
  return {
    loaded: (): Metrics | null => metrics,
    load: async (): Promise<Metrics> => {
      const { Metrics: Made } = await import('../metrics.ts')
      return (metrics ??= new Made())
    },
  }
}

/** Counts requests by route and status, once somebody has asked for metrics. @param patternOf the route of a path */
export function countRequests(
  loaded: () => Metrics | null,
  patternOf: (path: string) => string | undefined,
): MiddlewareHandler {
  return async (c, next) => {
    const metrics = loaded()
    if (metrics === null) return next()
    const startedAt = performance.now()
    await next()
    metrics.noteRequest(patternOf(c.req.path) ?? 'other', c.req.method, c.res.status, performance.now() - startedAt)
  }
}

export const metricRoutes = [
  route({
    method: 'GET',
    path: '/metrics',
    says: 'Metrics for Prometheus.',
    answer: ['text/plain'],
    handle: async ({ c }, { loadMetrics, readStatus }) => {
      const metrics = await loadMetrics()
      c.header('content-type', metrics.contentType)
      return c.body(await metrics.render(readStatus()))
    },
  }),
]
