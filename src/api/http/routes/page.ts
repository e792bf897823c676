import { Hono } from 'hono'
import { notFound, Problem } from '../problem.ts'
import type { ApiContext } from '../../context.ts'

/** Only the page's own files run. DOMPurify is the one source of HTML made from a chat. */
export const PAGE_CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types dompurify',
].join('; ')

/** The addresses of the page. */
export const pagePaths = [
  '/',
  '/chats/:id',
  '/projects',
  '/projects/:id',
  '/files',
  '/stats',
  '/tokens',
  '/losses',
  '/archives',
  '/status',
  '/settings',
]
export const ASSET_PATH = '/assets/:name'

const ONE_YEAR = 'public, max-age=31536000, immutable'

/** One HTML document for all addresses of the page. Query parameters belong to its script, so none is refused here. */
export function pageRoutes({ page }: Pick<ApiContext, 'page'>): Hono {
  const routes = new Hono()
  for (const path of pagePaths) {
    routes.get(path, (c) => {
      const shell = page?.shell() ?? null
      if (shell === null) throw new Problem(503, 'page-not-built', 'The page was not built. Run npm run build.')
      c.header('content-security-policy', PAGE_CSP)
      return c.html(shell)
    })
  }
  return routes.get(ASSET_PATH, (c) => {
    const name = c.req.param('name')
    const asset = page?.asset(name) ?? null
    if (asset === null) throw notFound('asset', name)
    c.header('content-type', asset.type)
    c.header('cache-control', ONE_YEAR)
    return c.body(asset.body)
  })
}
