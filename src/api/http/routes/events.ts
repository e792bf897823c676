import { Hono } from 'hono'
import { streamSSE } from 'hono/streaming'
import type { SSEStreamingApi } from 'hono/streaming'
import { createEventQueue } from '../event-queue.ts'
import type { EventQueue } from '../event-queue.ts'
import { noParameters, readQuery } from '../params.ts'
import type { ReadStatus } from '../read-status.ts'
import type { ApiWorld } from '../world.ts'

/** How far a client may fall behind before it is given up. */
const QUEUE_LENGTH_MAX = 1000
const HEARTBEAT_MS = 15_000

export function eventRoutes(world: ApiWorld, readStatus: ReadStatus): Hono {
  return new Hono().get('/api/events', (c) => {
    readQuery(c, noParameters)
    // The answer to a HEAD has no body whose end would end the subscription.
    if (c.req.raw.method === 'HEAD') return c.body(null, 200, { 'content-type': 'text/event-stream' })
    const status = readStatus()
    return streamSSE(c, async (stream) => {
      const queue = createEventQueue(QUEUE_LENGTH_MAX)
      queue.push({ type: 'status', data: { ...status } })
      const unsubscribe = world.subscribe((event) => {
        queue.push(event)
        // A blocked write would wait for a reader that does not read; cancelling lets it go.
        if (queue.isEnded()) stream.abort()
      })
      stream.onAbort(() => queue.end())
      void keepAlive(stream, queue, world.heartbeatMs ?? HEARTBEAT_MS)
      try {
        await sendAll(stream, queue)
      } finally {
        unsubscribe()
      }
    })
  })
}

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
