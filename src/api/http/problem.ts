import { STATUS_CODES } from 'node:http'
import { damageToldBy, isDamage, mirrorDamaged } from '../../mirror/maintenance/check-pages.ts'
import { UserError } from '../../model/user-error.ts'

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

/** So many are told, and so much of each name: a refusal is not made longer by asking for more nonsense. */
const ERRORS_MAX = 20
const NAME_LENGTH_MAX = 100

/** A 400 that names what is wrong, one sentence for each. */
export function badParameters(all: readonly BadParameter[], code = 'bad-parameter'): Problem {
  const errors = all.slice(0, ERRORS_MAX).map(({ name, reason }) => ({ name: shortened(name), reason }))
  const sentences = errors.map(({ name, reason }) => `"${name}" ${reason}.`)
  if (all.length > errors.length) sentences.push(`${all.length - errors.length} more are wrong.`)
  return new Problem(400, code, sentences.join(' '), { errors })
}

function shortened(name: string): string {
  return name.length <= NAME_LENGTH_MAX ? name : `${name.slice(0, NAME_LENGTH_MAX).toWellFormed()}…`
}

/** A 404 that names what was asked for, as it was given. */
export function notFound(what: 'chat' | 'project' | 'archive', given: string): Problem {
  const named = JSON.stringify(shortened(given)).replaceAll(STEERING, escaped)
  return new Problem(404, `${what}-not-found`, `No ${what} has this ${what === 'archive' ? 'name' : 'id'}: ${named}.`)
}

/** What JSON leaves as it is, and a terminal takes as an order. */
const STEERING = /[\p{Cc}\p{Bidi_Control}]/gu
const escaped = (sign: string): string => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`

/**
 * What went wrong, as the client is told: the world's trouble is a 503 with its remedy, and a bug is a 500 that says
 * nothing of the inside.
 */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (error instanceof UserError) return new Problem(503, error.code, `${error.message} ${error.hint}`)
  if (error instanceof Error && isDamage(error)) return asProblem(mirrorDamaged(error.message))
  if (isBrokenOff(error)) return new Problem(400, 'bad-body', 'The body broke off.')
  return new Problem(500, 'internal', 'The daemon made a mistake answering this. Its log tells more.')
}

/** Whether it is to be reported to whoever runs the program, and not to the client alone. */
export const isFault = ({ code }: Problem): boolean => code === 'internal' || damageToldBy(code) !== 'none'

/** A client that went away amid its body, or sent what is no chunk: its own mistake. */
const isBrokenOff = (error: unknown): boolean =>
  error instanceof Error && error.message === 'aborted' && 'code' in error && error.code === 'ECONNRESET'

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
