import type { Settings } from '../../settings.ts'

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

/** The path with its query, as it is sent. */
export const withQuery = (path: string, query: URLSearchParams): string =>
  query.size === 0 ? path : `${path}?${query.toString()}`

export type OpenAnswers = (settings: Settings) => Promise<Answers>

/** What to do with a daemon that may have another version than this command. */
export const RESTART = 'Restart it: cursordex service restart, or stop it and start it again.'
