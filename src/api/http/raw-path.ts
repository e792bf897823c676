import type { MiddlewareHandler } from 'hono'
import { Problem } from './problem.ts'

/**
 * The path as it was sent, percent-encoding and all. Routes are matched against this, so that `%2F` in an id is no
 * separator, and a parameter is decoded once, by the router.
 */
export function rawPath(request: Request): string {
  return new URL(request.url).pathname
}

/** The router would hand on a malformed encoding as it stands: it is refused before. */
export function refuseMalformedPaths(): MiddlewareHandler {
  return async (c, next) => {
    if (!isWellFormed(rawPath(c.req.raw))) {
      throw new Problem(400, 'bad-encoding', 'The path holds a percent sign that encodes nothing.')
    }
    await next()
  }
}

function isWellFormed(path: string): boolean {
  try {
    // Looked at, for a bundler leaves out a call of which nobody takes what it gives.
    return decodeURIComponent(path).length > 0
  } catch (error) {
    if (error instanceof URIError) return false
    throw error
  }
}
