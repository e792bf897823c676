import * as z from 'zod/mini'
import { problem } from '../../api/answers/common.ts'
import { UserError } from '../../model/user-error.ts'

/** Another program may answer. Its body may be anything. */
const partOfProblem = z.partial(z.pick(problem, { detail: true, title: true, code: true, errors: true }))

/**
 * The error for an answer with a status of 400 or above.
 * @param path the path of the request, with its query
 * @param body a problem as in RFC 9457
 */
export function errorOfProblem(status: number, path: string, body: unknown): UserError {
  const parsed = partOfProblem.safeParse(body)
  const { detail, title, code, errors } = parsed.success ? parsed.data : {}
  const reasons = (errors ?? [])
    .filter(({ reason }) => !detail?.includes(reason))
    .map(({ name, reason }) => `${name}: ${reason}`)
  const sentences = [detail ?? title ?? `The answer was HTTP ${status}.`, ...reasons]
  const names = code === 'message-not-found' ? ['around'] : (errors ?? []).map(({ name }) => name)
  const message = [...sentences, ...givenIn(path, names)].join(' ')
  const hint = HINTS[code ?? ''] ?? (endsInRemedy(status, detail) ? '' : hintFor(status, path))
  return new UserError(code ?? `http-${status}`, message, hint, { exitCode: status === 400 ? 2 : 1 })
}

const HINTS: Readonly<Record<string, string>> = {
  'message-not-found':
    'Without --around all messages of the chat are shown. With --orphans also those that the chat no longer lists.',
  'several-messages': 'Give more characters of the id.',
}

/** The values of the wrong parameters. A 404 already names what was requested. */
function givenIn(path: string, names: readonly string[]): string[] {
  const { searchParams } = new URL(path, 'http://localhost')
  const words = names.flatMap((name) => searchParams.getAll(name)).map((word) => JSON.stringify(word))
  return words.length === 0 ? [] : [`You gave ${words.join(', ')}.`]
}

/** True if the detail already ends with a remedy. That is so for errors that are not caused by the request itself. */
const endsInRemedy = (status: number, detail: string | undefined): boolean =>
  detail !== undefined && [409, 429, 503].includes(status)

function hintFor(status: number, path: string): string {
  if (status === 400) return 'See the --help of the command for allowed values.'
  if (status === 401) return 'The daemon requires its token. Run this as the user who owns the data folder.'
  if (status === 404) return `List what there is with: cursordex ${listingOf(path)}`
  if (status === 413) {
    return path.startsWith('/api/tokens/import')
      ? 'Import the file in parts, each with the first line of the file. Rows that are in two parts count once.'
      : 'Send less at a time.'
  }
  if (status === 503) return 'Try again, or ask for less.'
  return 'See the state of the daemon with: cursordex status'
}

/** The command that lists the items of a route. */
function listingOf(path: string): string {
  if (path.startsWith('/api/archives')) return 'archive list'
  return path.startsWith('/api/projects') ? 'projects' : 'chats'
}
