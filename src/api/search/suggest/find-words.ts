import type { Mirror } from '../../../mirror/open.ts'
import { prepared } from '../../../mirror/prepared.ts'
import { expressionOf } from '../plan/condition.ts'
import { wordPhrases } from '../plan/word-phrases.ts'
import { respell } from '../spelling/respell-word.ts'
import type { MeantWord } from './meant.ts'
import type { TypedWord } from './typed.ts'

export interface SuggestedWord {
  /** The last word with its end. */
  readonly text: string
  /** The whole query with it. */
  readonly query: string
  readonly distance: number
}

const IS_HELD = `
  select 1 from message_terms where message_terms match @match
  union all select 1 from chat_terms where chat_terms match @match
  limit 1
`

/**
 * The last word as it may go on. Each stands somewhere beside the others that were typed: what only messages said that
 * are gone, or only elsewhere, is left out.
 */
export function findWords(
  db: Mirror,
  words: readonly TypedWord[],
  meant: readonly MeantWord[],
  most: number,
  isOver: () => boolean,
): readonly SuggestedWord[] {
  const typed = words.at(-1)
  if (typed === undefined || typed.last === null) return []
  const { last, text } = typed
  const before = words.slice(0, -1)
  const found: SuggestedWord[] = []
  for (const { word, distance } of meant) {
    if (found.length >= most || isOver()) break
    const ended = respell(text, last, word)
    const nodes = [...before.map(({ phrases }) => phrases), wordPhrases(ended, false)].map((phrases) => ({
      kind: 'phrases' as const,
      phrases,
      columns: null,
      isWord: true,
    }))
    const match = expressionOf({ kind: 'all', nodes })
    if (prepared(db, IS_HELD).get({ match }) === undefined) continue
    found.push({ text: ended, query: [...before.map((one) => one.text), ended].join(' '), distance })
  }
  return found
}
