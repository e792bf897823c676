import type { ApiRoutes } from '../../api/http/routes.ts'
import { UserError } from '../../model/user-error.ts'
import type { Settings } from '../../settings.ts'
import { createClient, type Client, type Send } from '../../shared/client.ts'
import { fieldsOf, firstText } from '../../shared/tool-summary.ts'

export interface Daemon {
  readonly pid: number
  readonly url: string
  /** Null if `daemon.json` does not contain it. */
  readonly version: string | null
}

/**
 * Answers the commands: the routes of a running daemon, or of an engine in this process. Each request throws a UserError
 * for a problem that its route reports: exit code 2 for a bad request, otherwise 1.
 */
export interface Answers extends Client<ApiRoutes> {
  /** Null if an engine in this process answers. */
  readonly daemon: Daemon | null
  /** What the last answer lacks because it is not read yet. Absent if nothing can be missing. */
  missing?(): string | null
  close(): Promise<void>
}

/** @param note prints what the user should know, such as that reading takes long */
export type OpenAnswers = (settings: Settings, note: (text: string) => void) => Promise<Answers>

/** What to do with a daemon that may have another version than this command. */
const RESTART = 'Restart it: cursordex service restart, or stop it and start it again.'

/** The client of what an exchange of requests reaches. */
export const answersOver = (exchange: Send): Client<ApiRoutes> =>
  createClient<ApiRoutes>(async (path, init) => {
    const response = await exchange(path, init)
    if (response.status >= 400) throw errorOfProblem(response.status, path, jsonOf(await response.text()))
    const value = async (): Promise<unknown> => jsonOf(await response.text()) ?? refuseAnswer()
    return Object.defineProperty(response, 'json', { value })
  })

function refuseAnswer(): never {
  throw new UserError('unexpected-answer', 'The answer is not from cursordex.', RESTART)
}

/** The pieces of a text, as they arrive. @throws UserError if it breaks off */
export async function* piecesOf({ body }: Response): AsyncGenerator<string> {
  if (body !== null) yield* body.pipeThrough(new TextDecoderStream())
}

/** The value of a JSON text. Undefined if the text is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * The error for an answer with a status of 400 or above.
 * @param path the path of the request, with its query
 * @param body a problem as in RFC 9457. Another program may answer, so it may be anything
 */
function errorOfProblem(status: number, path: string, body: unknown): UserError {
  const problem = fieldsOf(body)
  const [code, detail] = [firstText(problem, ['code']), firstText(problem, ['detail'])]
  const errors = Array.isArray(problem['errors']) ? problem['errors'].map(fieldsOf) : []
  const reasons = errors.filter(({ reason }) => detail?.includes(String(reason)) !== true)
  const sentences = [
    detail ?? firstText(problem, ['title']) ?? `The answer was HTTP ${status}.`,
    ...reasons.map(({ name, reason }) => `${String(name)}: ${String(reason)}`),
    ...givenIn(path, code === 'message-not-found' ? ['around'] : errors.map(({ name }) => String(name))),
  ]
  const hint = HINTS[code ?? ''] ?? (endsInRemedy(status, detail) ? '' : hintFor(status, path))
  return new UserError(code ?? `http-${status}`, sentences.join(' '), hint, { exitCode: status === 400 ? 2 : 1 })
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

/** Whether the detail ends with what to do: the reasons of a bad request do, and errors that it does not cause. */
const endsInRemedy = (status: number, detail: string | undefined): boolean =>
  detail !== undefined && [400, 409, 429, 503].includes(status)

function hintFor(status: number, path: string): string {
  if (status === 401) return 'The daemon requires its token. Run this as the user who owns the data folder.'
  if (status === 404)
    return `List what there is with: cursordex ${path.startsWith('/api/archives') ? 'archive list' : 'chats'}`
  if (status === 413)
    return 'Send it in parts. A usage file needs its first line in each part; rows in two parts count once.'
  return 'See the state of the daemon with: cursordex status'
}
