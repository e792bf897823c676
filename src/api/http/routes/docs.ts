import { existsSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { Hono } from 'hono'
import type { ApiContext } from '../api-context.ts'
import { noParameters, readQuery } from '../params.ts'
import { Problem } from '../problem.ts'

/** RapiDoc sets styles from its script, so the page allows inline styles. It loads nothing from another server. */
const DOCS_CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>cursordex: API</title>
<script type="module" src="/docs/rapidoc-min.js"></script>
</head>
<body>
<rapi-doc spec-url="/openapi.json" load-fonts="false" render-style="read" show-header="false"
  schema-style="table" show-method-in-nav-bar="as-colored-text" use-path-in-nav-bar="true"></rapi-doc>
</body>
</html>
`

/** Where the build puts the viewer: beside the built program, and as seen from the sources. */
const VIEWER_PLACES = ['../docs/rapidoc-min.js.gz', '../../../../dist/docs/rapidoc-min.js.gz']

/** The description of the API, and a page that shows it offline. Both contain no data of the user. */
export function docsRoutes({ version }: Pick<ApiContext, 'version'>): Hono {
  return new Hono()
    .get('/openapi.json', async (c) => {
      readQuery(c, noParameters)
      // Loaded lazily: no other route needs the schemas of answers.
      const { openApiDocument } = await import('../openapi.ts')
      const { openApiExamples } = await import('../openapi-examples.ts')
      return c.json(openApiDocument(version, openApiExamples))
    })
    .get('/docs', (c) => {
      readQuery(c, noParameters)
      c.header('content-security-policy', DOCS_CSP)
      return c.html(PAGE)
    })
    .get('/docs/rapidoc-min.js', (c) => {
      readQuery(c, noParameters)
      c.header('content-type', 'text/javascript; charset=utf-8')
      c.header('vary', 'accept-encoding')
      const packed = readViewer()
      if (!/\bgzip\b/iu.test(c.req.header('accept-encoding') ?? '')) return c.body(new Uint8Array(gunzipSync(packed)))
      c.header('content-encoding', 'gzip')
      return c.body(new Uint8Array(packed))
    })
}

function readViewer(): Buffer {
  const file = VIEWER_PLACES.map((place) => new URL(place, import.meta.url)).find((url) => existsSync(url))
  if (file === undefined) throw new Problem(404, 'not-found', 'The viewer was not built.')
  return readFileSync(file)
}
