import { STATUS_CODES } from 'node:http'
import { isDamage, mirrorDamaged } from '../../mirror/damage/find-damage.ts'
import type { BadParameter } from '../answers/common.ts'
import { UserError } from '../../model/user-error.ts'
import { printableJsonText } from '../../text/printable.ts'

export interface ProblemOptions {
  /** The wrong parameters or body keys, and what is wrong with each. */
  readonly errors?: readonly BadParameter[]
  readonly headers?: Readonly<Record<string, string>>
}

/** Thrown if a request cannot be answered. `problemResponse` turns it into a response. */
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

/** How many errors are listed, and how much of each name. So a longer request cannot cause a long answer. */
const ERRORS_MAX = 20
const NAME_LENGTH_MAX = 100

/** A 400 with one sentence per error. */
export function badParameters(all: readonly BadParameter[], code = 'bad-parameter'): Problem {
  const errors = all.slice(0, ERRORS_MAX).map(({ name, reason }) => ({ name: shortened(name), reason }))
  const sentences = errors.map(({ name, reason }) => `"${name}" ${reason}.`)
  if (all.length > errors.length) sentences.push(`There are ${all.length - errors.length} more errors.`)
  return new Problem(400, code, sentences.join(' '), { errors })
}

function shortened(name: string): string {
  return name.length <= NAME_LENGTH_MAX ? name : `${name.slice(0, NAME_LENGTH_MAX).toWellFormed()}…`
}

/** A 404 that repeats the id or name as it was given. */
export function notFound(what: 'chat' | 'project' | 'archive' | 'asset' | 'image', given: string): Problem {
  const named = printableJsonText(JSON.stringify(shortened(given)))
  return new Problem(
    404,
    `${what}-not-found`,
    `No ${what} has this ${what === 'chat' || what === 'project' ? 'id' : 'name'}: ${named}.`,
  )
}

/**
 * The problem that the client sees. A UserError becomes a 503 with its hint, or a 400 if something was said wrong. A bug
 * becomes a 500 without details of the program.
 */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (error instanceof UserError) {
    return new Problem(error.status, error.code, `${error.message} ${error.hint}`)
  }
  if (error instanceof Error && isDamage(error)) return asProblem(mirrorDamaged(error.message))
  if (isBrokenOff(error)) return new Problem(400, 'bad-body', 'The request body ended early.')
  return new Problem(500, 'internal', 'An internal error occurred. See the log of the daemon for details.')
}

/** Whether the daemon logs it, besides answering the client. */
export const isFault = ({ code }: Problem): boolean => code === 'internal' || code === 'mirror-damaged'

/** Whether the client disconnected while sending its body, or sent a malformed chunk: not an error of the server. */
const isBrokenOff = (error: unknown): boolean =>
  error instanceof Error && error.message === 'aborted' && 'code' in error && error.code === 'ECONNRESET'

/** Per RFC 9457. The type is always `about:blank`; `code` distinguishes problems of one status. */
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
