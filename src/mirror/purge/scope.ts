import type { ChatId } from '../../model/ids.ts'

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
/** JSON within JSON within JSON: a tool's output may quote a file that quotes a text. */
const ESCAPED_TIMES_MAX = 3

/**
 * The spellings under which a text may stand in a JSON text, lower case: as it is and quoted several times over, composed
 * and decomposed.
 */
export function needlesOf(match: string): readonly string[] {
  const forms = [match, match.normalize('NFC'), match.normalize('NFD')]
  const spellings = forms.flatMap((form) => {
    const quoted = [form]
    for (let times = 0; times < ESCAPED_TIMES_MAX; times += 1) {
      quoted.push(JSON.stringify(quoted.at(-1) ?? '').slice(1, -1))
    }
    return quoted
  })
  return [...new Set(spellings.map(folded))]
}

/** Whether a text holds what `needlesOf` gave. */
export function holdsAny(text: string, needles: readonly string[]): boolean {
  const whole = folded(text)
  return needles.some((needle) => whole.includes(needle))
}

/** A capital sigma becomes another letter at the end of a word, and a match may end where its word does not. */
const folded = (text: string): string => text.toLowerCase().replaceAll('ς', 'σ')

/** Whether nothing but a text is asked for: then it stands nowhere afterwards. */
export const isOfText = ({ chatIds, projectUris, beforeMs, match }: PurgeScope): boolean =>
  match !== null && chatIds === null && projectUris === null && beforeMs === null
