import { createHash, timingSafeEqual } from 'node:crypto'
import type { MiddlewareHandler } from 'hono'
import { Problem } from './problem.ts'
import type { Access } from './api-context.ts'

/**
 * Refuses what may come from a foreign web page or without the token, before any route is looked for. Binding to
 * loopback is not enough: any page can send requests to it, and a name that resolves to 127.0.0.1 makes its answers
 * readable (CVE-2024-28224 in Ollama, CVE-2025-66414 in the MCP SDK).
 */
export function guard(access: Access): MiddlewareHandler {
  return async (c, next) => {
    const hosts = access.allowedHosts()
    checkHost(c.req.header('host'), hosts)
    checkOrigin(c.req.header('origin'), hosts)
    checkFetchSite(c.req.header('sec-fetch-site'))
    if (access.tokenRequired) checkToken(c.req.header('authorization'), access.token)
    await next()
  }
}

function checkHost(host: string | undefined, hosts: ReadonlySet<string>): void {
  if (host !== undefined && hosts.has(host.toLowerCase())) return
  throw new Problem(421, 'wrong-host', `This server answers for ${[...hosts].join(', ')} only.`)
}

/** `null` is the origin of sandboxed frames and files, whoever made them: it is none of ours. */
function checkOrigin(origin: string | undefined, hosts: ReadonlySet<string>): void {
  if (origin === undefined) return
  const [, host] = /^http:\/\/(.+)$/u.exec(origin.toLowerCase()) ?? []
  if (host !== undefined && hosts.has(host)) return
  throw new Problem(403, 'wrong-origin', 'Pages of other origins may not ask this server.')
}

/** `same-site` is refused too: another port of this machine is a foreign page. */
function checkFetchSite(site: string | undefined): void {
  if (site === undefined || site === 'same-origin' || site === 'none') return
  throw new Problem(403, 'cross-site', 'Pages of other sites may not ask this server.')
}

/** A token that is required but not known lets nobody in. */
function checkToken(authorization: string | undefined, token: string | null): void {
  const [, given] = /^bearer +(.+)$/iu.exec(authorization ?? '') ?? []
  if (token !== null && given !== undefined && isSameSecret(given, token)) return
  throw new Problem(401, 'token-required', 'Send the token of the data folder as Authorization: Bearer <token>.', {
    headers: { 'www-authenticate': 'Bearer realm="cursordex"' },
  })
}

/** Hashed first: equal lengths, so that the time taken tells neither the length nor the place of a difference. */
function isSameSecret(left: string, right: string): boolean {
  return timingSafeEqual(sha256(left), sha256(right))
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

const HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
}

/** An answer that a browser is made to show as a page may load nothing and be framed by nobody. */
const DATA_CSP = "default-src 'none'; frame-ancestors 'none'"

/** On every answer, refusals and faults among them: chats are private, and may hold any markup. */
export function securityHeaders(): MiddlewareHandler {
  return async (c, next) => {
    await next()
    for (const [name, value] of Object.entries(HEADERS)) c.res.headers.set(name, value)
    if (!c.res.headers.has('content-security-policy')) c.res.headers.set('content-security-policy', DATA_CSP)
  }
}
