import { readJson, writtenOut } from '../../../helpers/cases.ts'

/** Requests that no client library sends. `{host}` is the server's own. */
export interface RawShape {
  readonly what: string
  readonly bytes: string
  /** The allowed answers. `closed` if the connection may end without an answer. */
  readonly allowed: readonly (number | 'closed')[]
  readonly isHalfClosed?: boolean
  readonly answersMax?: number
}

export const rawShapes = writtenOut(readJson(import.meta.url, 'raw-shapes.json') as readonly RawShape[])
