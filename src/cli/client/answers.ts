import { UserError } from '../../model/user-error.ts'
import type { Settings } from '../../settings.ts'
import { errorOfProblem } from './problem.ts'

/** Answers the commands: a running daemon, or an engine in this process. */
export interface Answers {
  readonly origin: 'daemon' | 'mirror'
  /** The version of the daemon, if it is known. */
  readonly version?: string | null
  /**
   * The JSON of one route. `path` begins with `/api`, and its parts are percent-encoded.
   * @throws UserError for a problem that the route reports: exit code 2 for a bad request, otherwise 1
   */
  get(path: string, query: URLSearchParams): Promise<unknown>
  /** @param mediaType of a body that is a string and is sent unchanged. Without it the body is sent as JSON */
  post(path: string, body?: unknown, mediaType?: string): Promise<unknown>
  /**
   * The text of a route that does not answer in JSON, in parts as they arrive. The request is sent when the first part is
   * read.
   * @throws UserError as `get` does, and also later if the text breaks off
   */
  text(path: string, query: URLSearchParams): AsyncIterable<string>
  /** What the last answer lacks because it is not read yet. Absent if nothing can be missing. */
  missing?(): string | null
  close(): Promise<void>
}

export type OpenAnswers = (settings: Settings) => Promise<Answers>

/** What to do with a daemon that may have another version than this command. */
export const RESTART = 'Restart it: cursordex service restart, or stop it and start it again.'

/** Sends one request. The path contains its query. */
export type Exchange = (path: string, init: RequestInit) => Promise<Response>

async function json(response: Response): Promise<unknown> {
  const body = jsonOf(await response.text())
  if (body !== undefined) return body
  throw new UserError('unexpected-answer', 'The answer is not from cursordex.', RESTART)
}

/** The answers of what an exchange reaches. */
export function answersOver(exchange: Exchange): Pick<Answers, 'get' | 'post' | 'text'> {
  const ask = async (path: string, query: URLSearchParams, init: RequestInit = {}): Promise<Response> => {
    const whole = query.size === 0 ? path : `${path}?${query.toString()}`
    const response = await exchange(whole, init)
    if (response.status < 400) return response
    throw errorOfProblem(response.status, whole, jsonOf(await response.text()))
  }
  return {
    get: async (path, query) => json(await ask(path, query)),
    post: async (path, body, mediaType) => {
      const headers = { 'content-type': mediaType ?? 'application/json' }
      const text = mediaType === undefined ? JSON.stringify(body) : (body as string)
      const sent = body === undefined ? {} : { headers, body: text }
      return json(await ask(path, new URLSearchParams(), { method: 'POST', ...sent }))
    },
    async *text(path, query) {
      const { body } = await ask(path, query)
      if (body !== null) yield* body.pipeThrough(new TextDecoderStream())
    },
  }
}

/** The value of a JSON text. Undefined if the text is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
