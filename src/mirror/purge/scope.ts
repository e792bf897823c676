import type { ChatId } from '../../model/ids.ts'
import { folded, spellingsOf } from './spellings.ts'

/** What is to be removed: all that is given must hold. At least one is. */
export interface PurgeScope {
  /** These chats, the subagents that they called among them. */
  readonly chatIds: readonly ChatId[] | null
  /** Chats of the projects of these roots. */
  readonly projectUris: readonly string[] | null
  /** What was said before this moment, epoch milliseconds; chats in which nothing happened since go whole. */
  readonly beforeMs: number | null
  /** Messages in which this stands, whatever the case of its letters. */
  readonly match: string | null
}

/** Texts that are shorter stand in too much. UTF-16 units. */
export const MATCH_LENGTH_MIN = 4
export const MATCH_LENGTH_MAX = 10_000

/** The spellings under which a text may stand in a JSON text, lower case. */
export const needlesOf = (match: string): readonly string[] => [...new Set(spellingsOf(match).map(folded))]

/** Whether a text holds what `needlesOf` gave. */
export function holdsAny(text: string, needles: readonly string[]): boolean {
  const whole = folded(text)
  return needles.some((needle) => whole.includes(needle))
}

/** Whether nothing but a text is asked for: then it stands nowhere afterwards. */
export const isOfText = ({ chatIds, projectUris, beforeMs, match }: PurgeScope): boolean =>
  match !== null && chatIds === null && projectUris === null && beforeMs === null
