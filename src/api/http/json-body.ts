import type { Context, MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type * as z from 'zod/mini'
import { refuseUnknown } from './params.ts'
import { badParameters, Problem } from './problem.ts'

const BODY_BYTES_MAX = 1024 * 1024
/** A file of some 100,000 rows: a year of the busiest user. */
const FILE_BYTES_MAX = 16 * 1024 * 1024
/** Where a file is handed in. */
const filePaths: ReadonlySet<string> = new Set(['/api/tokens/import'])

/** @throws Problem 413 */
export function limitBodies(): MiddlewareHandler {
  const [small, large] = [limitTo(BODY_BYTES_MAX), limitTo(FILE_BYTES_MAX)]
  return (c, next) => {
    // A request of these has no body here, and to look at it costs more than all else that is looked at.
    if (c.req.method === 'GET' || c.req.method === 'HEAD') return next()
    return (filePaths.has(c.req.path) ? large : small)(c, next)
  }
}

function limitTo(maxSize: number): MiddlewareHandler {
  return bodyLimit({
    maxSize,
    onError: () => {
      // Without `Connection: close`: a connection closed while a client still sends would lose it this answer. The server
      // drops the rest of the body, 64 MB or half a second of it at most.
      throw new Problem(413, 'too-large', `A request may hold ${maxSize} bytes at most.`)
    },
  })
}

/**
 * The request's JSON object, read by its schema; no body at all reads as an empty object.
 * @throws Problem 415 for another media type (which a foreign page could send unasked), 400 for anything else
 */
export async function readBody<Shape extends z.core.$ZodShape>(
  c: Context,
  schema: z.ZodMiniObject<Shape>,
): Promise<z.output<z.ZodMiniObject<Shape>>> {
  const text = await c.req.text()
  if (text !== '') requireJson(c.req.header('content-type'))
  const body = text === '' ? {} : parseJson(text)
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new Problem(400, 'bad-body', 'The body must be a JSON object.')
  }
  refuseUnknown(Object.keys(body), Object.keys(schema.shape), 'key')
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  const errors = parsed.error.issues.map((issue) => ({ name: issue.path.join('.'), reason: issue.message }))
  throw badParameters(errors, 'bad-body')
}

function requireJson(mediaType: string | undefined): void {
  if (/^application\/json\s*(;|$)/iu.test(mediaType ?? '')) return
  throw new Problem(415, 'not-json', 'The body must be sent as application/json.')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw new Problem(400, 'bad-body', 'The body is not valid JSON.')
    throw error
  }
}
