import * as z from 'zod/mini'
import { healthAnswer } from '../../answers/common.ts'
import { type Status, readyAnswer, statusAnswer, syncAnswer } from '../../answers/status.ts'
import { Problem } from '../problem.ts'
import { bodyFlag } from '../params.ts'
import { type Api, get, post } from '../route.ts'
import type { MiddlewareHandler } from 'hono'
import type { Metrics } from '../metrics.ts'
import type { ApiContext, DaemonEvent } from '../../context.ts'
import { statSync } from 'node:fs'
import type { Mirror } from '../../../mirror/open.ts'
import { UserError } from '../../../model/user-error.ts'
import { cached } from '../../queries/rows.ts'
import { EMPTY_CENSUS, countEverything, listSources } from '../../queries/sources.ts'
import { indexPath } from '../../../mirror/index/index-file.ts'

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
  get('/metrics', {
    says: 'Metrics for Prometheus.',
    answer: ['text/plain'],
    handle: async ({ c }, { loadMetrics, readStatus }) => {
      const metrics = await loadMetrics()
      c.header('content-type', metrics.contentType)
      return c.body(await metrics.render(readStatus()))
    },
  }),
  get('/api/events', {
    says: 'Changes as they happen (server-sent events).',
    answer: ['text/event-stream'],
    handle: ({ c }, api) => {
      // The answer to a HEAD has no body. So nothing would end the subscription.
      const body = c.req.raw.method === 'HEAD' ? null : eventStream(api)
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    },
  }),
]

/**
 * Counts requests by route and status, once somebody has asked for metrics: prom-client takes 4 MB, and is loaded then.
 * @param patternOf the route of a path
 */
export function lazyMetrics(patternOf: (path: string) => string | undefined) {
  let metrics: Metrics | null = null
  const load = async (): Promise<Metrics> => {
    const { Metrics: Made } = await import('../metrics.ts')
    return (metrics ??= new Made())
  }
  const count: MiddlewareHandler = async (c, next) => {
    if (metrics === null) return next()
    const startedAt = performance.now()
    await next()
    metrics.noteRequest(patternOf(c.req.path) ?? 'other', c.req.method, c.res.status, performance.now() - startedAt)
  }
  return { load, count }
}

/** How many events may wait for a client. After them the stream ends, and the client asks again. */
const WAITING_MAX = 1000
const HEARTBEAT_MS = 15_000

/** The status, then each event, and heartbeats while nothing else waits. */
function eventStream(api: Api): ReadableStream<Uint8Array> {
  const status = api.readStatus()
  const encoder = new TextEncoder()
  let end: (() => void) | undefined
  const start = (stream: ReadableStreamDefaultController<Uint8Array>): void => {
    const send = ({ type, data }: DaemonEvent): void => {
      stream.enqueue(encoder.encode(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`))
      if ((stream.desiredSize ?? 0) > 0) return
      end?.()
      stream.close()
    }
    send({ type: 'status', data: { ...status } })
    const unsubscribe = api.subscribe(send)
    const beat = (): void => {
      if (stream.desiredSize === WAITING_MAX) stream.enqueue(encoder.encode(': still here\n\n'))
    }
    const timer = setInterval(beat, api.heartbeatMs ?? HEARTBEAT_MS)
    end = () => {
      unsubscribe()
      clearInterval(timer)
    }
  }
  return new ReadableStream({ start, cancel: () => end?.() }, new CountQueuingStrategy({ highWaterMark: WAITING_MAX }))
}

/** A slow count is reused for ten times as long as it took. So it costs at most a tenth of the time. */
const REUSE_FACTOR = 10

/** Makes the reader behind `/status`, the page and the first event. They share one, and so its caches. */
export function createStatusReader(context: ApiContext): () => Status {
  let census = cached(countEverything, REUSE_FACTOR)
  let wasReady = false
  return () => {
    const { mirrorPath, wasAllRead: _, ...live } = context.live()
    const db = mirrorIfAny(context)
    // Counts made during the first pass are out of date when it ends, even if the cache would keep them.
    if (live.state === 'ready' && !wasReady) census = cached(countEverything, REUSE_FACTOR)
    wasReady ||= live.state === 'ready'
    const ftsBytes = measureFile(indexPath(mirrorPath))
    return {
      ...live,
      version: context.version,
      sources: db === null ? [] : listSources(db),
      ...(db === null ? EMPTY_CENSUS : census(db)),
      mirror: { path: mirrorPath, bytes: measureFile(mirrorPath) + ftsBytes, ftsBytes },
      archives: context.archives.health(),
      excluded: context.excluded,
    }
  }
}

/** Bytes of a database on disk, with its WAL; 0 if there is none. */
function measureFile(path: string): number {
  const sizes = [path, `${path}-wal`].map((file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0)
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Null if there is no mirror yet: a daemon that has just started must still report its status. */
function mirrorIfAny(context: ApiContext): Mirror | null {
  try {
    return context.mirror()
  } catch (error) {
    if (error instanceof UserError && error.code === 'mirror-missing') return null
    throw error
  }
}
