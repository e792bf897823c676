import type { TermPhrase } from '../../../text/passages/matcher.ts'
import { isUnspacedSign, tokenize, type Term } from '../../../text/terms/terms.ts'
import { splitField } from '../language/read-term.ts'
import type { FieldName } from '../language/tree.ts'
import { wordPhrases } from '../plan/word-phrases.ts'

/** One typed word. The last one may be incomplete. */
export interface TypedWord {
  readonly text: string
  readonly terms: readonly Term[]
  /** The index phrases of the word, or of words with this prefix. */
  readonly phrases: readonly TermPhrase[]
  readonly isUnfinished: boolean
  /** The part that is being typed, if it can be completed or respelled. */
  readonly last: Term | null
}

const LENGTH_MAX = 200
const WORDS_MAX = 8

/** The last typed words. Accepts any text. */
export function readTyped(q: string): readonly TypedWord[] {
  // A lone surrogate is no character, and SQLite ends a text at NUL.
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
  // A character of an unspaced script is a term by itself, so it is no prefix of a word.
  const isSigns = last !== null && isUnspacedSign(last.term)
  return { text, terms, phrases: wordPhrases(text, isUnfinished), isUnfinished, last: isSigns ? null : last }
}

/** The value that is being typed for a field. Null if the last word is not a field. */
export function typedValue(
  words: readonly TypedWord[],
): { readonly name: FieldName; readonly value: TypedWord } | null {
  const field = splitField(words.at(-1)?.text.replace(/^-/, '') ?? '')
  return field === null || tokenize(field.value).length === 0
    ? null
    : { name: field.name, value: typedWord(field.value, true) }
}
