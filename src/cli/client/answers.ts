import type { Settings } from '../../settings.ts'

/** Who answers the commands: a running daemon, or the mirror read in this process. */
export interface Answers {
  readonly origin: 'daemon' | 'mirror'
  /**
   * The JSON of one route. `path` is whole, `/api` included, its parts percent-encoded.
   * @throws UserError for a problem that the route reports: exit code 2 for a bad request, else 1
   */
  get(path: string, query: URLSearchParams): Promise<unknown>
  /** @param mediaType of a body that is a text, to be sent as it is; else it is sent as JSON */
  post(path: string, body?: unknown, mediaType?: string): Promise<unknown>
  /**
   * The text of a route that does not answer in JSON, as it comes. Asked when the first of it is taken.
   * @throws UserError as `get` does, then; and later on where the text breaks off
   */
  text(path: string, query: URLSearchParams): AsyncIterable<string>
  /** What was missing in what was answered last, for it is still being read. Not given where nothing can be. */
  missing?(): string | null
  close(): Promise<void>
}

/** A path as it is sent. */
export const withQuery = (path: string, query: URLSearchParams): string =>
  query.size === 0 ? path : `${path}?${query.toString()}`

export type OpenAnswers = (settings: Settings) => Promise<Answers>
