import { streamSSE, type SSEStreamingApi } from 'hono/streaming'
import type { DaemonEvent } from '../../context.ts'
import { route } from '../route.ts'

/** How many events may wait for a client before it is dropped. */
const QUEUE_LENGTH_MAX = 1000
const HEARTBEAT_MS = 15_000

export const eventRoutes = [
  route({
    method: 'GET',
    path: '/api/events',
    says: 'Changes as they happen (server-sent events).',
    answer: ['text/event-stream'],
    handle: ({ c }, api) => {
      // The answer to a HEAD has no body. So nothing would end the subscription.
      if (c.req.raw.method === 'HEAD') return c.body(null, 200, { 'content-type': 'text/event-stream' })
      const status = api.readStatus()
      return streamSSE(c, async (stream) => {
        const queue = createEventQueue(QUEUE_LENGTH_MAX)
        queue.push({ type: 'status', data: { ...status } })
        const unsubscribe = api.subscribe((event) => {
          queue.push(event)
          // A pending write would wait for a client that does not read. Aborting ends it.
          if (queue.isEnded()) stream.abort()
        })
        stream.onAbort(() => queue.end())
        void keepAlive(stream, queue, api.heartbeatMs ?? HEARTBEAT_MS)
        try {
          await sendAll(stream, queue)
        } finally {
          unsubscribe()
        }
      })
    },
  }),
]

async function sendAll(stream: SSEStreamingApi, queue: EventQueue): Promise<void> {
  for (;;) {
    const outgoing = await queue.next()
    if (outgoing === 'end') return
    if (outgoing.type === 'heartbeat') await stream.write(': still here\n\n')
    else await stream.writeSSE({ event: outgoing.type, data: JSON.stringify(outgoing.data) })
  }
}

async function keepAlive(stream: SSEStreamingApi, queue: EventQueue, everyMs: number): Promise<void> {
  while (!queue.isEnded()) {
    await stream.sleep(everyMs)
    queue.beat()
  }
}

/** What is sent next: an event, a heartbeat, or `end` after which nothing follows. */
type Outgoing = DaemonEvent | { readonly type: 'heartbeat' } | 'end'

export interface EventQueue {
  push(event: DaemonEvent): void
  /** Adds a heartbeat if nothing else waits. A client that is behind does not need one. */
  beat(): void
  next(): Promise<Outgoing>
  /** Drops everything that waits. */
  end(): void
  isEnded(): boolean
}

/**
 * Buffers events for one client that reads at its own pace. A client that is `lengthMax` events behind is dropped: its
 * queue ends, because it would grow with every indexed message.
 */
export function createEventQueue(lengthMax: number): EventQueue {
  let waiting: Outgoing[] = []
  let ended = false
  let wake: (() => void) | null = null

  const add = (outgoing: Outgoing): void => {
    if (!ended) waiting.push(outgoing)
    wake?.()
  }
  const end = (): void => {
    ended = true
    waiting = []
    wake?.()
  }
  return {
    push: (event) => (waiting.length >= lengthMax ? end() : add(event)),
    beat: () => (waiting.length === 0 ? add({ type: 'heartbeat' }) : undefined),
    end,
    isEnded: () => ended,
    next: async () => {
      if (!ended && waiting.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      return waiting.shift() ?? 'end'
    },
  }
}
