import type { Ask } from '../corpus/planted.ts'

/** One place in an answer. */
export interface Hit {
  /** Null where it is a chat by its title that was found. */
  readonly messageId: string | null
  readonly chatId: string
}

export interface Answer {
  /** Best first. */
  readonly hits: readonly Hit[]
  /** Spellings offered instead, best first. */
  readonly spellings: readonly string[]
}

/** A search that is measured. */
export type Engine = (ask: Ask) => Answer

/** So many places of an answer are looked at: what a person sees without turning the page. */
export const LOOKED_AT = 10
