import type { MiddlewareHandler } from 'hono'

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
