import * as z from 'zod/mini'
import { healthAnswer } from '../../answers/common.ts'
import { readyAnswer, statusAnswer, syncAnswer } from '../../answers/status.ts'
import { Problem } from '../problem.ts'
import { bodyFlag } from '../params.ts'
import { get, post } from '../route.ts'
import type { MiddlewareHandler } from 'hono'
import type { Metrics } from '../metrics.ts'

export const statusRoutes = [
  get('/api/health', {
    says: 'Whether the daemon answers. Costs nothing.',
    answer: healthAnswer,
    // `startedAt` shows which daemon answers.
    handle: (_, { version, startedAt }) => ({
      status: 'ok' as const,
      version,
      ...(startedAt === undefined ? {} : { startedAt }),
    }),
  }),
  get('/api/status', {
    says: 'State, sources, counts and unreadable rows.',
    answer: statusAnswer,
    handle: (_, { readStatus }) => readStatus(),
  }),
  get('/api/ready', {
    says: '200 if everything is searchable, else 503 with the reasons.',
    answer: readyAnswer,
    handle: (_, { readStatus }) => {
      const { state, reasons, progress } = readStatus()
      if (state === 'ready' || state === 'degraded') return { state, reasons }
      const done = progress === null ? '' : ` ${progress.done} of ${progress.total} ${progress.stage} steps are done.`
      throw new Problem(503, state, `The daemon is ${state}.${done} ${reasons.join(' ')}`.trim())
    },
  }),
  post('/api/sync', {
    says: 'Runs a pass now; {"full": true} compares every value.',
    body: z.object({ full: bodyFlag(false) }),
    answer: syncAnswer,
    handle: ({ body: { full } }, api) => api.sync({ full }),
  }),
]

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
  get('/metrics', {
    says: 'Metrics for Prometheus.',
    answer: ['text/plain'],
    handle: async ({ c }, { loadMetrics, readStatus }) => {
      const metrics = await loadMetrics()
      c.header('content-type', metrics.contentType)
      return c.body(await metrics.render(readStatus()))
    },
  }),
]
