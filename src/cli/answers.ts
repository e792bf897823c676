import type { Settings } from '../settings.ts'

/** Who answers the commands: a running daemon, or the mirror read in this process. */
export interface Answers {
  readonly origin: 'daemon' | 'mirror'
  /**
   * The JSON of one route. `path` is whole, `/api` included, its parts percent-encoded.
   * @throws Trouble for a problem that the route reports: exit code 2 for a bad request, else 1
   */
  get(path: string, query: URLSearchParams): Promise<unknown>
  post(path: string, body?: unknown): Promise<unknown>
  close(): Promise<void>
}

export type OpenAnswers = (settings: Settings) => Promise<Answers>
