import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { hostname, networkInterfaces } from 'node:os'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Trouble } from '../model/trouble.ts'

export interface Listening {
  readonly url: string
  /** What a Host header may say, with the port. */
  readonly allowedHosts: ReadonlySet<string>
  close(): Promise<void>
}

type Fetch = (request: Request) => Response | Promise<Response>

/**
 * Opens the port. The app is made once the port is known, for what a Host header may say depends on it.
 * @param port 0 takes any free one
 * @throws Trouble `port-taken`, `bad-host` or `port-refused`
 */
export async function listen(
  host: string,
  port: number,
  makeFetch: (allowedHosts: ReadonlySet<string>) => Fetch,
): Promise<Listening> {
  let listener: RequestListener = notYet
  // A query of a thousand signs beyond ASCII is three times as long once it is percent-encoded.
  const server = createServer({ maxHeaderSize: 256 * 1024 }, (request, response) => listener(request, response))
  await open(server, host, port)
  const { port: realPort } = server.address() as AddressInfo
  const allowedHosts = hostsOf(host, realPort)
  const answer = getRequestListener(makeFetch(allowedHosts))
  listener = (request, response) => {
    if (isMeantForUs(request, allowedHosts)) void answer(request, response)
    else refuse(response, allowedHosts)
  }
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${realPort}`,
    allowedHosts,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        // Event streams would go on for ever.
        server.closeAllConnections()
      }),
  }
}

const notYet: RequestListener = (_request, response) => {
  response.writeHead(503).end()
}

/** What no app could be asked about: a Host that is missing or malformed, and a target that names another host. */
function isMeantForUs({ url = '', headers }: IncomingMessage, allowedHosts: ReadonlySet<string>): boolean {
  if (!allowedHosts.has((headers.host ?? '').toLowerCase())) return false
  if (url.startsWith('/')) return true
  return URL.canParse(url) && allowedHosts.has(new URL(url).host)
}

function refuse(response: ServerResponse, allowedHosts: ReadonlySet<string>): void {
  const detail = `This server answers for ${[...allowedHosts].join(', ')} only.`
  const problem = { type: 'about:blank', title: 'Misdirected Request', status: 421, detail, code: 'wrong-host' }
  const headers = { 'content-type': 'application/problem+json', 'x-content-type-options': 'nosniff' }
  response.writeHead(421, { ...headers, 'cache-control': 'no-store' }).end(JSON.stringify(problem))
}

function open(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(explain(error, host, port)))
    server.listen({ host, port }, () => resolve())
  })
}

function explain(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const said = { cause: error }
  if (error.code === 'EADDRINUSE') {
    const text = `Port ${port} on ${host} is taken by another program.`
    return new Trouble('port-taken', text, 'Stop it, or choose another port with --port (0 takes any free one).', said)
  }
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') {
    return new Trouble('bad-host', `This machine has no address ${host}.`, 'Choose another with --host.', said)
  }
  if (error.code === 'EACCES') {
    return new Trouble('port-refused', `Port ${port} may not be opened.`, 'Choose one above 1023 with --port.', said)
  }
  return error
}

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]']

export const isLoopback = (host: string): boolean => ['127.0.0.1', 'localhost', '::1'].includes(host.toLowerCase())

/** Loopback's names always; a wider host brings its own name, or, for all addresses, those of the machine. */
function hostsOf(host: string, port: number): ReadonlySet<string> {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list?.map(({ address }) => address) ?? [])
  const wide = isLoopback(host) ? [] : [host, hostname(), ...addresses]
  const names = [...LOOPBACK, ...wide.map((name) => (name.includes(':') ? `[${name}]` : name))]
  return new Set(names.map((name) => `${name.toLowerCase()}:${port}`))
}
