import { createHash, timingSafeEqual } from 'node:crypto'
import type { MiddlewareHandler } from 'hono'
import { Problem } from './problem.ts'
import { fits } from './route.ts'
import { ASSET_PATH, pagePaths } from './routes/page.ts'
import type { Access } from '../context.ts'

/**
 * Refuses requests that may come from a foreign web page, or that lack the token, before routing. Binding to loopback
 * is not enough: any page can send requests to it, and a host name that resolves to 127.0.0.1 lets the page read the
 * answers (CVE-2024-28224 in Ollama, CVE-2025-66414 in the MCP SDK).
 */
export function guard(access: Access): MiddlewareHandler {
  return async (c, next) => {
    const hosts = access.allowedHosts()
    checkHost(c.req.header('host'), hosts)
    checkOrigin(c.req.header('origin'), hosts, access.publicUrl ?? null)
    const isPage = pagePaths.some((pattern) => fits(pattern, c.req.path))
    const isVisit = isPage && isNavigation(c.req.raw)
    if (!isVisit) checkFetchSite(c.req.header('sec-fetch-site'))
    // The page and its files have no user data. The page sends the token with each request for data.
    const isOpen = isPage || openPaths.some((pattern) => fits(pattern, c.req.path))
    if (access.tokenRequired && !isOpen) checkToken(c.req.header('authorization'), access.token)
    await next()
  }
}

/** What anyone on this machine may load without a token, besides the page: it contains no user data. */
const openPaths = [ASSET_PATH, '/openapi.json']

function checkHost(host: string | undefined, hosts: ReadonlySet<string>): void {
  if (host !== undefined && hosts.has(host.toLowerCase())) return
  throw new Problem(421, 'wrong-host', `This server answers only as ${[...hosts].join(', ')}.`)
}

/** `null`, the origin of sandboxed frames and local files, is refused: anyone may have made those. */
function checkOrigin(origin: string | undefined, hosts: ReadonlySet<string>, publicUrl: string | null): void {
  if (origin === undefined) return
  if (publicUrl !== null && origin.toLowerCase() === new URL(publicUrl).origin) return
  const [, host] = /^http:\/\/(.+)$/u.exec(origin.toLowerCase()) ?? []
  if (host !== undefined && hosts.has(host)) return
  throw new Problem(403, 'wrong-origin', 'Pages from other origins may not use this server.')
}

/** A link on another site may open the page. That site cannot read it or show it in a frame. */
function isNavigation({ method, headers }: Request): boolean {
  const isRead = method === 'GET' || method === 'HEAD'
  return isRead && headers.get('sec-fetch-mode') === 'navigate' && headers.get('sec-fetch-dest') === 'document'
}

/** `same-site` is refused too, because a page from another port of this machine is foreign. */
function checkFetchSite(site: string | undefined): void {
  if (site === undefined || site === 'same-origin' || site === 'none') return
  throw new Problem(403, 'cross-site', 'Pages from other sites may not use this server.')
}

/** If a token is required but not known, every request is refused. */
function checkToken(authorization: string | undefined, token: string | null): void {
  const [, given] = /^bearer +(.+)$/iu.exec(authorization ?? '') ?? []
  // Hashes have equal lengths: the time reveals neither the length nor the position of a difference.
  if (token !== null && given !== undefined && timingSafeEqual(sha256(given), sha256(token))) return
  throw new Problem(401, 'token-required', 'Send the token of the data folder as Authorization: Bearer <token>.', {
    headers: { 'www-authenticate': 'Bearer realm="cursordex"' },
  })
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

const HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
}

/** If a browser shows an answer as a page, the page may load nothing and no page may frame it. */
const DATA_CSP = "default-src 'none'; frame-ancestors 'none'"

/** Sets headers on every answer, including refusals and errors: chats are private and may contain any markup. */
export function securityHeaders(): MiddlewareHandler {
  return async (c, next) => {
    await next()
    // Only files of the page may be cached. Their names change with their content.
    const isImmutable = c.res.headers.get('cache-control')?.endsWith('immutable') === true
    if (!isImmutable) c.res.headers.set('cache-control', 'no-store')
    for (const [name, value] of Object.entries(HEADERS)) c.res.headers.set(name, value)
    if (!c.res.headers.has('content-security-policy')) c.res.headers.set('content-security-policy', DATA_CSP)
  }
}
