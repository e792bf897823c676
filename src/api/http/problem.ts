import { STATUS_CODES } from 'node:http'
import { Trouble } from '../../model/trouble.ts'

export interface BadParameter {
  readonly name: string
  readonly reason: string
}

export interface ProblemOptions {
  /** For bad parameters and body keys: which, and why. */
  readonly errors?: readonly BadParameter[]
  readonly headers?: Readonly<Record<string, string>>
}

/** A request that cannot be answered, on its way to the one place that turns it into a response. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly status: number
  /** For programs; `message` is for people. */
  readonly code: string
  readonly errors: readonly BadParameter[] | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, code: string, detail: string, options: ProblemOptions = {}) {
    super(detail)
    this.status = status
    this.code = code
    this.errors = options.errors
    this.headers = options.headers ?? {}
  }
}

/** A 400 that names what is wrong, one sentence for each. */
export function badParameters(errors: readonly BadParameter[], code = 'bad-parameter'): Problem {
  const detail = errors.map((error) => `"${error.name}" ${error.reason}.`).join(' ')
  return new Problem(400, code, detail, { errors })
}

/**
 * What went wrong, as the client is told: the world's trouble is a 503 with its remedy, and a bug is a 500 that says
 * nothing of the inside.
 */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (error instanceof Trouble) return new Problem(503, error.code, `${error.message} ${error.hint}`)
  return new Problem(500, 'internal', 'The daemon made a mistake answering this. Its log tells more.')
}

/** RFC 9457. The type is always `about:blank`: `code` tells problems of one status apart. */
export function problemResponse(problem: Problem): Response {
  const { status, code, message, errors, headers } = problem
  const title = STATUS_CODES[status] ?? 'Error'
  const body = {
    type: 'about:blank',
    title,
    status,
    detail: message,
    code,
    ...(errors === undefined ? {} : { errors }),
  }
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...headers, 'content-type': 'application/problem+json' },
  })
}
