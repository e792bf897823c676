import { createServer, STATUS_CODES } from 'node:http'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { hostname, networkInterfaces } from 'node:os'
import type { AddressInfo } from 'node:net'
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
  const server = createServer(LIMITS)
  await open(server, host, port)
  const { port: realPort } = server.address() as AddressInfo
  let hosts = hostsOf(host, realPort, publicUrl)
  const allowedHosts = (): ReadonlySet<string> => {
    try {
      if (!isLoopback(host)) hosts = hostsOf(host, realPort, publicUrl)
    } catch {
      // For example without free descriptors. The former addresses hold on.
    }
    return hosts
  }
  let made: Promise<RequestListener> | null = null
  const answer = (): Promise<RequestListener> => (made ??= makeAnswer(allowedHosts))
  // No request arrives between the opening of the port and this.
  server.on('request', (request, response) => {
    const allowed = allowedHosts()
    if (isMeantForUs(request, allowed)) void answer().then((give) => give(request, response))
    else refuse(response, allowed)
  })
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
 * because a client on this machine sends its request at once. We report a missing Host header ourselves. What Node cannot
 * read it refuses itself, without a body.
 */
const LIMITS = {
  maxHeaderSize: 256 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5000,
  requireHostHeader: false,
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

function refuse(response: ServerResponse, allowedHosts: ReadonlySet<string>): void {
  const detail = `This server answers for ${[...allowedHosts].join(', ')} only.`
  const problem = { type: 'about:blank', title: STATUS_CODES[421], status: 421, detail, code: 'wrong-host' }
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
  const options = { cause: error }
  if (error.code === 'EADDRINUSE') {
    const text = `Port ${port} on ${host} is taken by another program.`
    const hint = 'Stop it, or choose another port with --port (0 takes any free one).'
    return new UserError('port-taken', text, hint, options)
  }
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') {
    return new UserError('bad-host', `This machine has no address ${host}.`, 'Choose another with --host.', options)
  }
  if (error.code === 'EACCES') {
    const text = `You are not allowed to open port ${port}.`
    return new UserError('port-refused', text, 'Choose one above 1023 with --port.', options)
  }
  return error
}

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]']

const isLoopback = (host: string): boolean => ['127.0.0.1', 'localhost', '::1'].includes(host.toLowerCase())

/** If the server can be reached from beyond loopback, the token is always required, whatever the settings say. */
export const asksForToken = ({ auth, http }: Pick<Settings, 'auth' | 'http'>): boolean =>
  auth.required || !isLoopback(http.host) || (http.publicUrl !== null && !isLoopback(hostnameOf(http.publicUrl)))

const hostnameOf = (url: string): string => new URL(url).hostname.replaceAll(/[[\]]/g, '')

/** The names of loopback. For another host also its name, the name of the machine and all addresses of the machine. */
export function hostsOf(host: string, port: number, publicUrl: string | null = null): ReadonlySet<string> {
  // Only asked if the host is not loopback: a hardened service may not be allowed to.
  const addresses = isLoopback(host) ? [] : Object.values(networkInterfaces()).flatMap((list = []) => list)
  const wide = isLoopback(host) ? [] : [host, hostname(), ...addresses.map(({ address }) => address)]
  const names = [...LOOPBACK, ...wide.map((name) => (name.includes(':') ? `[${name}]` : name))]
  // Clients do not write the default port of HTTP.
  const ports = port === 80 ? ['', ':80'] : [`:${port}`]
  const outside = publicUrl === null ? [] : [new URL(publicUrl).host]
  return new Set([...names.flatMap((name) => ports.map((end) => `${name.toLowerCase()}${end}`)), ...outside])
}
