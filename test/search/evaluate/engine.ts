import type { Ask } from '../corpus/planted.ts'

/** One hit of an answer. */
export interface Hit {
  /** Null if a chat was found by its title. */
  readonly messageId: string | null
  readonly chatId: string
}

export interface Answer {
  /** Best first. */
  readonly hits: readonly Hit[]
  /** Suggested spellings, best first. */
  readonly spellings: readonly string[]
}

/** A search to measure. */
export type Engine = (ask: Ask) => Answer

/** How many hits are evaluated: the first page of an answer. */
export const LOOKED_AT = 10
