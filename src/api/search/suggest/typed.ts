import type { TermPhrase } from '../../../text/passages/matcher.ts'
import { isUnspacedSign, tokenize, type Term } from '../../../text/terms/terms.ts'
import { splitField } from '../language/read-term.ts'
import type { FieldName } from '../language/tree.ts'
import { wordPhrases } from '../plan/word-phrases.ts'

/** One word as it was typed; the last one may go on. */
export interface TypedWord {
  readonly text: string
  readonly terms: readonly Term[]
  /** What stands in the index where this word does, or one that begins so. */
  readonly phrases: readonly TermPhrase[]
  readonly isUnfinished: boolean
  /** The part that is being typed, where another spelling or an end can be thought of for it. */
  readonly last: Term | null
}

const LENGTH_MAX = 200
const WORDS_MAX = 8

/** The last words of what was typed. Total: any text has a list of words. */
export function readTyped(q: string): readonly TypedWord[] {
  // A lone surrogate is no character, and NUL would end the text inside SQLite.
  const clean = q
    .slice(-LENGTH_MAX)
    .replaceAll('\u0000', ' ')
    .replaceAll(/\p{Surrogate}/gu, ' ')
  const words = clean.split(/[\s"“”„()*]+/u).filter((word) => tokenize(word).length > 0)
  return words.slice(-WORDS_MAX).map((text, index, all) => typedWord(text, index === all.length - 1))
}

function typedWord(text: string, isUnfinished: boolean): TypedWord {
  const terms = tokenize(text)
  const last = terms.at(-1) ?? null
  // Signs of unspaced scripts are terms of their own already: there is no word that they begin.
  const isSigns = last !== null && isUnspacedSign(last.term)
  return { text, terms, phrases: wordPhrases(text, isUnfinished), isUnfinished, last: isSigns ? null : last }
}

/** The value of a field, as far as the last word is one; null where it is a word to search for. */
export function typedValue(
  words: readonly TypedWord[],
): { readonly name: FieldName; readonly value: TypedWord } | null {
  const field = splitField(words.at(-1)?.text.replace(/^-/, '') ?? '')
  return field === null || tokenize(field.value).length === 0
    ? null
    : { name: field.name, value: typedWord(field.value, true) }
}
