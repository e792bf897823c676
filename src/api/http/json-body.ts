import type { Context, MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type * as z from 'zod/mini'
import { refuseUnknown } from './params.ts'
import { badParameters, Problem } from './problem.ts'

const BODY_BYTES_MAX = 1024 * 1024
/** Enough for about 100,000 rows: one year of a very busy user. */
const FILE_BYTES_MAX = 16 * 1024 * 1024
/** Routes that take a whole file. */
const filePaths: ReadonlySet<string> = new Set(['/api/tokens/import'])

/** @throws Problem 413 */
export function limitBodies(): MiddlewareHandler {
  const [small, large] = [limitTo(BODY_BYTES_MAX), limitTo(FILE_BYTES_MAX)]
  return (c, next) => {
    // These requests have no body, and checking for one costs more than all other checks.
    if (c.req.method === 'GET' || c.req.method === 'HEAD') return next()
    return (filePaths.has(c.req.path) ? large : small)(c, next)
  }
}

function limitTo(maxSize: number): MiddlewareHandler {
  return bodyLimit({
    maxSize,
    onError: () => {
      // No `Connection: close`: if the connection closed while the client still sends, the client would lose this
      // answer. The server discards the rest of the body, at most 64 MB or for half a second.
      throw new Problem(413, 'too-large', `The body may be at most ${maxSize} bytes long.`)
    },
  })
}

/**
 * Reads the JSON object of a request by its schema. A missing body counts as an empty object.
 * @throws Problem 415 for another media type, which a foreign page could send without a preflight request; 400 otherwise
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
