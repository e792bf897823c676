import { z } from 'zod'
import { UserError } from '../../model/user-error.ts'

const problem = z.object({
  detail: z.string().optional(),
  title: z.string().optional(),
  code: z.string().optional(),
  errors: z.array(z.object({ name: z.string(), reason: z.string() })).optional(),
})

/**
 * What an answer of a status of 400 or above means to the person who asked.
 * @param path of the route that was asked, with its query
 * @param body a problem of RFC 9457
 */
export function errorOfProblem(status: number, path: string, body: unknown): UserError {
  const parsed = problem.safeParse(body)
  const { detail, title, code, errors } = parsed.success ? parsed.data : {}
  const reasons = (errors ?? [])
    .filter(({ reason }) => !detail?.includes(reason))
    .map(({ name, reason }) => `${name}: ${reason}`)
  const told = [detail ?? title ?? `The answer was HTTP ${status}.`, ...reasons]
  const names = code === NO_MESSAGE ? ['around'] : (errors ?? []).map(({ name }) => name)
  const message = [...told, ...givenIn(path, names)].join(' ')
  const hint = code === NO_MESSAGE ? ORPHANS : endsInRemedy(status, detail) ? '' : hintFor(status, path)
  return new UserError(code ?? `http-${status}`, message, hint, { exitCode: status === 400 ? 2 : 1 })
}

/** The chat is there: it is one of its messages that is not. */
const NO_MESSAGE = 'message-not-found'
const ORPHANS = 'The chat without --around shows all, and with --orphans those that it names no more.'

/** What was given for the parameters that were wrong; a 404 names itself what was asked for. */
function givenIn(path: string, names: readonly string[]): string[] {
  const { searchParams } = new URL(path, 'http://localhost')
  const words = names.flatMap((name) => searchParams.getAll(name)).map((word) => JSON.stringify(word))
  return words.length === 0 ? [] : [`Given was ${words.join(', ')}.`]
}

/** What is no mistake of the question is told with what helps, and nothing that is known here helps as well. */
const endsInRemedy = (status: number, detail: string | undefined): boolean =>
  detail !== undefined && [409, 429, 503].includes(status)

function hintFor(status: number, path: string): string {
  if (status === 400) return 'See the --help of the command for what it takes.'
  if (status === 401) return 'The daemon asks for its token: run this as the user who owns the data folder.'
  if (status === 404) return `List what there is with: cursordex ${listingOf(path)}`
  if (status === 413) {
    return path.startsWith('/api/tokens/import')
      ? 'Import the file in parts, each with the first line of the whole; rows that are in two of them count once.'
      : 'Give less of it at a time.'
  }
  if (status === 503) return 'Try again, or ask for less.'
  return 'See how the daemon is with: cursordex status'
}

/** The command that lists what stands under a route. */
function listingOf(path: string): string {
  if (path.startsWith('/api/archives')) return 'archive list'
  return path.startsWith('/api/projects') ? 'projects' : 'chats'
}
