import { Agent, request } from 'node:http'
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { faultsOf, type Attempt } from './judge.ts'
import type { RawAnswer } from './raw.ts'

export interface Ask {
  readonly method: string
  readonly path: string
  /** Sent unchanged: no Host is added. A name may occur several times. */
  readonly headers: OutgoingHttpHeaders | readonly string[]
  readonly body?: string | Buffer
}

/** No refusal is longer. Of other answers the beginning is enough. */
const BODY_LENGTH_MAX = 50_000

/** A server under attack, and the faults of its answers so far. */
export class Target {
  readonly port: number
  readonly faults: string[] = []
  requests = 0
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 8 })

  constructor(port: number) {
    this.port = port
  }

  get local(): string {
    return `127.0.0.1:${this.port}`
  }

  /** Sends a request and checks the answer. @returns its status, or 0 if the connection was closed without an answer */
  async attack(ask: Ask, attempt: Partial<Attempt> = {}): Promise<number> {
    this.requests += 1
    const what = attempt.what ?? `${ask.method} ${ask.path.slice(0, 150)} ${JSON.stringify(ask.headers).slice(0, 200)}`
    const answer = await this.send(ask)
    if (answer === null) return 0
    this.faults.push(...faultsOf(answer, { what, method: ask.method, isForeign: attempt.isForeign ?? false }))
    return answer.status
  }

  async attackAll(asks: readonly Ask[], attempt: Partial<Attempt> = {}): Promise<number[]> {
    const statuses: number[] = []
    for (let at = 0; at < asks.length; at += 8) {
      statuses.push(...(await Promise.all(asks.slice(at, at + 8).map((ask) => this.attack(ask, attempt)))))
    }
    return statuses
  }

  /** @returns null if the connection was closed instead */
  send({ method, path, headers, body }: Ask): Promise<RawAnswer | null> {
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: this.port, path, method, setHost: false, agent: this.#agent }
      const sent = request({ ...options, headers: headers as OutgoingHttpHeaders })
      sent.on('response', (response) => void readAnswer(response).then(resolve, reject))
      sent.on('error', (error: NodeJS.ErrnoException) =>
        error.code === 'ECONNRESET' || error.code === 'EPIPE' ? resolve(null) : reject(error),
      )
      // Writing the rest of a body may fail after the answer arrived. That does not matter.
      sent.on('socket', (socket) => socket.removeListener('error', nothing).on('error', nothing))
      sent.on('connect', (response, socket) => {
        socket.destroy()
        resolve({ status: response.statusCode ?? 0, headers: {}, body: '' })
      })
      sent.end(body)
    })
  }

  async isAlive(): Promise<boolean> {
    const answer = await this.send({ method: 'GET', path: '/api/health', headers: { host: this.local } })
    return answer?.status === 200 && answer.body.includes('"ok"')
  }

  close(): void {
    this.#agent.destroy()
  }
}

const nothing = (): void => undefined

/** An event stream has no end. Its beginning is enough. */
async function readAnswer(response: IncomingMessage): Promise<RawAnswer> {
  let body = ''
  const isStream = response.headers['content-type']?.startsWith('text/event-stream') === true
  if (isStream) response.destroy()
  else
    for await (const chunk of response as AsyncIterable<Buffer>)
      if (body.length < BODY_LENGTH_MAX) body += chunk.toString('latin1')
  const headers = Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, String(value)]))
  return { status: response.statusCode ?? 0, headers, body }
}
