import { promisify } from 'node:util'
import { gzip, gzipSync } from 'node:zlib'
import type { MiddlewareHandler } from 'hono'

const BYTES_MIN = 1024
/** Fast: on this machine's own network time matters more than size. */
const LEVEL = 1
/** Up to this size the work takes less time than handing it to a thread. */
const BYTES_AT_ONCE = 64 * 1024
const compressLater = promisify(gzip)
const compress = async (body: Buffer): Promise<Buffer> =>
  body.length <= BYTES_AT_ONCE ? gzipSync(body, { level: LEVEL }) : compressLater(body, { level: LEVEL })

/** Compresses JSON above 1 KB for clients that accept gzip. Streams and files are left as they are. */
export function compressJson(): MiddlewareHandler {
  return async (c, next) => {
    await next()
    if (!/\bgzip\b/i.test(c.req.header('accept-encoding') ?? '')) return
    if (!/^application\/(problem\+)?json/.test(c.res.headers.get('content-type') ?? '')) return
    if (c.res.headers.has('content-encoding') || c.req.method === 'HEAD') return
    const headers = new Headers(c.res.headers)
    headers.append('vary', 'accept-encoding')
    const body = Buffer.from(await c.res.arrayBuffer())
    const isLarge = body.length > BYTES_MIN
    if (isLarge) headers.set('content-encoding', 'gzip')
    headers.delete('content-length')
    const sent = isLarge ? await compress(body) : body
    c.res = new Response(new Uint8Array(sent), { status: c.res.status, headers })
  }
}
