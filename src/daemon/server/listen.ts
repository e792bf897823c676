import { createServer, STATUS_CODES } from 'node:http'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { hostname, networkInterfaces } from 'node:os'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { UserError } from '../../model/user-error.ts'
import type { Settings } from '../../settings.ts'

export interface Listening {
  readonly url: string
  /** Creates the request listener, if no request did so before. Then the first request need not wait for it. */
  makeReady(): void
  close(): Promise<void>
}

/** The allowed Host headers now, with port. The addresses of a machine can change. */
export type AllowedHosts = () => ReadonlySet<string>

/**
 * Opens the port. The request listener is created by `makeReady` or by the first request, which waits for it. It cannot be
 * created earlier, because the allowed Host headers depend on the port.
 * If `port` is 0, it takes any free one. Requests to `publicUrl` are accepted too.
 * @throws UserError `port-taken`, `bad-host` or `port-refused`
 */
export async function listen(
  { host, port, publicUrl = null }: Pick<Settings['http'], 'host' | 'port'> & Partial<Settings['http']>,
  makeAnswer: (allowedHosts: AllowedHosts) => Promise<RequestListener>,
): Promise<Listening> {
  let listener: RequestListener = notYet
  const server = createServer(LIMITS, (request, response) => listener(request, response))
  refuseUnreadable(server)
  await open(server, host, port)
  const { port: realPort } = server.address() as AddressInfo
  const hosts = (): ReadonlySet<string> => hostsOf(host, realPort, publicUrl)
  const allowedHosts = isLoopback(host) ? fixed(hosts()) : lookedUp(hosts)
  let made: Promise<RequestListener> | null = null
  const answer = (): Promise<RequestListener> => (made ??= makeAnswer(allowedHosts))
  listener = (request, response) => {
    const allowed = allowedHosts()
    if (isMeantForUs(request, allowed)) void answer().then((give) => give(request, response))
    else refuse(response, allowed)
  }
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${realPort}`,
    makeReady: () => void answer(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        // Event streams would never end by themselves.
        server.closeAllConnections()
      }),
  }
}

/**
 * The header size leaves room for a long query: percent-encoding triples each byte beyond ASCII. The timeouts are short,
 * because a client on this machine sends its request at once. We report a missing Host header ourselves.
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

/** False if the Host header is missing, malformed or repeated, or if the target is on another host. */
function isMeantForUs({ url = '', headers, rawHeaders }: IncomingMessage, allowedHosts: ReadonlySet<string>): boolean {
  if (!allowedHosts.has((headers.host ?? '').toLowerCase())) return false
  // Node only reports the first Host header, and a proxy may have used the second.
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

/** Node's own refusals have no body. Here every refusal gets the same form. */
function refuseUnreadable(server: Server): void {
  // The current answer of each connection.
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
    response.end(problemText(417, 'bad-expectation', 'The only supported expectation is 100-continue.'))
  })
}

type Refusal = readonly [status: number, code: string, detail: string]

const notHttp: Refusal = [400, 'bad-request', 'This is not an HTTP request.']
const unreadable: ReadonlyMap<string, Refusal> = new Map([
  ['HPE_HEADER_OVERFLOW', [431, 'too-large', 'The headers of a request may have 256 KB at most.']],
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
  const options = { cause: error }
  if (error.code === 'EADDRINUSE') {
    const text = `Port ${port} on ${host} is taken by another program.`
    return new UserError(
      'port-taken',
      text,
      'Stop it, or choose another port with --port (0 takes any free one).',
      options,
    )
  }
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') {
    return new UserError('bad-host', `This machine has no address ${host}.`, 'Choose another with --host.', options)
  }
  if (error.code === 'EACCES') {
    return new UserError(
      'port-refused',
      `You are not allowed to open port ${port}.`,
      'Choose one above 1023 with --port.',
      options,
    )
  }
  return error
}

const fixed =
  (hosts: ReadonlySet<string>): AllowedHosts =>
  () =>
    hosts

const LOOKED_UP_MS = 1000

/** Asks the system at most once a second. If it cannot be asked, for lack of resources, the previous answer is used. */
function lookedUp(look: () => ReadonlySet<string>): AllowedHosts {
  let hosts = look()
  let atMs = performance.now()
  return () => {
    if (performance.now() - atMs < LOOKED_UP_MS) return hosts
    atMs = performance.now()
    try {
      hosts = look()
    } catch {
      // For example without free descriptors. It is tried again in a second.
    }
    return hosts
  }
}

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]']

const isLoopback = (host: string): boolean => ['127.0.0.1', 'localhost', '::1'].includes(host.toLowerCase())

/** If the server can be reached from beyond loopback, the token is always required, whatever the settings say. */
export const asksForToken = ({ auth, http }: Pick<Settings, 'auth' | 'http'>): boolean =>
  auth.required || !isLoopback(http.host) || (http.publicUrl !== null && !isLoopback(hostnameOf(http.publicUrl)))

const hostnameOf = (url: string): string => new URL(url).hostname.replaceAll(/[[\]]/g, '')

/** The names of loopback. For another host also its name, the name of the machine and all addresses of the machine. */
export function hostsOf(host: string, port: number, publicUrl: string | null = null): ReadonlySet<string> {
  const wide = isLoopback(host) ? [] : [host, hostname(), ...addressesOfMachine()]
  const names = [...LOOPBACK, ...wide.map((name) => (name.includes(':') ? `[${name}]` : name))]
  // Clients do not write the default port of HTTP.
  const ports = port === 80 ? ['', ':80'] : [`:${port}`]
  const outside = publicUrl === null ? [] : [new URL(publicUrl).host]
  return new Set([...names.flatMap((name) => ports.map((end) => `${name.toLowerCase()}${end}`)), ...outside])
}

/** Only asked if the host is not loopback: a hardened service may not be allowed to. */
function addressesOfMachine(): readonly string[] {
  try {
    return Object.values(networkInterfaces()).flatMap((list) => list?.map(({ address }) => address) ?? [])
  } catch (cause) {
    throw new UserError(
      'no-addresses',
      'The system does not let cursordex list the addresses of this machine.',
      'If it runs as a service, allow it with: cursordex service install',
      { cause },
    )
  }
}
