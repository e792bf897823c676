import { createServer, STATUS_CODES } from 'node:http'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { hostname, networkInterfaces } from 'node:os'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { UserError } from '../../model/user-error.ts'
import type { Settings } from '../../settings.ts'

export interface Listening {
  readonly url: string
  /** Makes who answers, unless somebody asked already: the first question need not wait for that then. */
  makeReady(): void
  close(): Promise<void>
}

/** What a Host header may say now, with the port: a machine gets further addresses, and loses some. */
export type AllowedHosts = () => ReadonlySet<string>

/**
 * Opens the port. Who answers is made once that is asked for, or when the first question comes, which waits for them: not
 * before, for what a Host header may say depends on the port.
 * @param port 0 takes any free one
 * @throws UserError `port-taken`, `bad-host` or `port-refused`
 */
export async function listen(
  host: string,
  port: number,
  makeAnswer: (allowedHosts: AllowedHosts) => Promise<RequestListener>,
): Promise<Listening> {
  let listener: RequestListener = notYet
  const server = createServer(LIMITS, (request, response) => listener(request, response))
  refuseUnreadable(server)
  await open(server, host, port)
  const { port: realPort } = server.address() as AddressInfo
  const allowedHosts = isLoopback(host) ? fixed(hostsOf(host, realPort)) : lookedUp(() => hostsOf(host, realPort))
  let made: Promise<RequestListener> | null = null
  const answer = (): Promise<RequestListener> => (made ??= makeAnswer(allowedHosts))
  listener = (request, response) => {
    const hosts = allowedHosts()
    if (isMeantForUs(request, hosts)) void answer().then((give) => give(request, response))
    else refuse(response, hosts)
  }
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${realPort}`,
    makeReady: () => void answer(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        // Event streams would go on for ever.
        server.closeAllConnections()
      }),
  }
}

/**
 * A query of a thousand signs beyond ASCII is three times as long once it is percent-encoded. A client on this machine
 * sends at once what it has to say: one that does not only holds a connection open. That a Host is missing is told by us.
 */
const LIMITS = {
  maxHeaderSize: 256 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5000,
  requireHostHeader: false,
}

const notYet: RequestListener = (_request, response) => {
  response.writeHead(503).end()
}

/** What no app could be asked about: a Host that is missing, malformed or said twice, and a target on another host. */
function isMeantForUs({ url = '', headers, rawHeaders }: IncomingMessage, allowedHosts: ReadonlySet<string>): boolean {
  if (!allowedHosts.has((headers.host ?? '').toLowerCase())) return false
  // Node tells of the first alone, and whoever stands between might have gone by the second.
  if (rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length > 1) return false
  if (url.startsWith('/')) return true
  if (!URL.canParse(url)) return false
  const { protocol, host, username, password } = new URL(url)
  return protocol === 'http:' && allowedHosts.has(host) && username + password === ''
}

const REFUSED = { 'content-type': 'application/problem+json', 'x-content-type-options': 'nosniff' }

function refuse(response: ServerResponse, allowedHosts: ReadonlySet<string>): void {
  const detail = `This server answers for ${[...allowedHosts].join(', ')} only.`
  response.writeHead(421, { ...REFUSED, 'cache-control': 'no-store' }).end(problemText(421, 'wrong-host', detail))
}

const problemText = (status: number, code: string, detail: string): string =>
  JSON.stringify({ type: 'about:blank', title: STATUS_CODES[status] ?? 'Error', status, detail, code })

/** Node's own refusals have no body, and a client should be told in one form whatever was wrong. */
function refuseUnreadable(server: Server): void {
  // By its connection, the answer that is being given there.
  const answers = new WeakMap<Duplex, ServerResponse>()
  server.on('request', ({ socket }, response) => {
    if (answers.get(socket)?.writableFinished !== false) answers.set(socket, response)
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const answer = answers.get(socket)
    const isAnswering = answer?.headersSent === true && !answer.writableFinished
    if (!socket.writable || isAnswering || error.code === 'ECONNRESET') {
      socket.destroy()
      return
    }
    const [status, code, detail] = unreadable.get(error.code ?? '') ?? notHttp
    const body = problemText(status, code, detail)
    const headers = { ...REFUSED, 'content-length': String(Buffer.byteLength(body)), connection: 'close' }
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}\r\n${lines.join('')}\r\n${body}`)
  })
  server.on('checkExpectation', (_request, response: ServerResponse) => {
    response.writeHead(417, { ...REFUSED, connection: 'close' })
    response.end(problemText(417, 'bad-expectation', 'Of expectations only 100-continue is met.'))
  })
}

type Refusal = readonly [status: number, code: string, detail: string]

const notHttp: Refusal = [400, 'bad-request', 'This is no HTTP request.']
const unreadable: ReadonlyMap<string, Refusal> = new Map([
  ['HPE_HEADER_OVERFLOW', [431, 'too-large', 'The headers of a request may hold 256 KB at most.']],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', [413, 'too-large', 'The extensions of a chunk are too long.']],
  ['ERR_HTTP_REQUEST_TIMEOUT', [408, 'too-slow', 'The request took too long to arrive.']],
])

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
    return new UserError(
      'port-taken',
      text,
      'Stop it, or choose another port with --port (0 takes any free one).',
      said,
    )
  }
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') {
    return new UserError('bad-host', `This machine has no address ${host}.`, 'Choose another with --host.', said)
  }
  if (error.code === 'EACCES') {
    return new UserError('port-refused', `Port ${port} may not be opened.`, 'Choose one above 1023 with --port.', said)
  }
  return error
}

const fixed =
  (hosts: ReadonlySet<string>): AllowedHosts =>
  () =>
    hosts

const LOOKED_UP_MS = 1000

/** Asked of the system once a second at most. Where that cannot be asked, for it has no room, what was known holds. */
function lookedUp(look: () => ReadonlySet<string>): AllowedHosts {
  let hosts = look()
  let atMs = performance.now()
  return () => {
    if (performance.now() - atMs < LOOKED_UP_MS) return hosts
    atMs = performance.now()
    try {
      hosts = look()
    } catch {
      // As without descriptors: tried again in a second.
    }
    return hosts
  }
}

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]']

const isLoopback = (host: string): boolean => ['127.0.0.1', 'localhost', '::1'].includes(host.toLowerCase())

/** Who can reach another address than loopback's is asked for the token, whatever the settings say. */
export const asksForToken = ({ auth, http }: Pick<Settings, 'auth' | 'http'>): boolean =>
  auth.required || !isLoopback(http.host)

/** Loopback's names always; a wider host brings its own name, or, for all addresses, those of the machine. */
export function hostsOf(host: string, port: number): ReadonlySet<string> {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list?.map(({ address }) => address) ?? [])
  const wide = isLoopback(host) ? [] : [host, hostname(), ...addresses]
  const names = [...LOOPBACK, ...wide.map((name) => (name.includes(':') ? `[${name}]` : name))]
  // What is HTTP's own port nobody writes.
  const ports = port === 80 ? ['', ':80'] : [`:${port}`]
  return new Set(names.flatMap((name) => ports.map((end) => `${name.toLowerCase()}${end}`)))
}
