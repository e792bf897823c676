import type { DaemonEvent } from '../../context.ts'
import { get, type Api } from '../route.ts'

/** How many events may wait for a client. After them the stream ends, and the client asks again. */
const WAITING_MAX = 1000
const HEARTBEAT_MS = 15_000

export const eventRoutes = [
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
