import type { Mirror } from '../../../mirror/open.ts'
import { prepared } from '../../../mirror/sql.ts'
import { countHolders } from '../spelling/count-holders.ts'
import { nearWords, slipsForgiven } from '../spelling/near-words.ts'
import type { FrequentWords } from './frequent-words.ts'
import type { TypedWord } from './typed.ts'
import { expressionOf } from '../plan/condition.ts'
import { wordPhrases } from '../plan/word-phrases.ts'
import { respell } from '../spelling/respell-word.ts'

/** A possible completion of the typed word. */
export interface MeantWord {
  readonly word: string
  /** 0 if it begins as it was typed. */
  readonly distance: number
}

const MEANT_MAX = 20
/** A shorter prefix has too many words, so the shortest of them would not help. */
const LISTED_LETTERS_MIN = 3
/** With fewer completions, none of which is in as many messages, words with a near beginning are added. */
const FEW = 3
const MESSAGES_OF_KNOWN = 5

/** Completions of the last word: first words with this prefix, most frequent first; then words with a near beginning. */
export function meantWords(
  db: Mirror,
  frequent: FrequentWords,
  { last }: TypedWord,
  isOver: () => boolean,
): readonly MeantWord[] {
  if (last === null) return []
  const { term } = last
  const common = frequent.words.startingWith(term, MEANT_MAX)
  const isKnown = (common[0]?.count ?? 0) >= MESSAGES_OF_KNOWN
  const found = new Map<string, MeantWord>(common.map(({ word }) => [word, { word, distance: 0 }]))
  const add = (words: readonly MeantWord[]): void => {
    for (const each of words) if (!found.has(each.word)) found.set(each.word, each)
  }
  if (found.size < MEANT_MAX && term.length >= LISTED_LETTERS_MIN) add(listStarting(db, term))
  const slips = slipsForgiven(term)
  if (found.size < FEW && !isKnown && slips > 0) {
    add(frequent.words.near(term, slips, MEANT_MAX))
    if (found.size < FEW) add(nearRare(db, term, isOver))
  }
  return [...found.values()].slice(0, MEANT_MAX)
}

const STARTING = `
  select term as word, 0 as distance from terms where term >= @from and term < @to limit 200
`

/** From the list of all terms, shortest first. */
function listStarting(db: Mirror, term: string): readonly MeantWord[] {
  const listed = prepared<MeantWord>(db, STARTING).all({ from: term, to: `${term}\u{10ffff}` })
  return listed
    .filter(({ word }) => !/\d/.test(word) || /\d/.test(term))
    .sort((a, b) => a.word.length - b.word.length)
    .slice(0, MEANT_MAX)
}

/** Distance 2 would take ten times as long, and each typed letter asks again. */
const nearRare = (db: Mirror, term: string, isOver: () => boolean): readonly MeantWord[] =>
  nearWords(db, term, 1, isOver).map(({ term: word, distance }) => ({ word, distance }))

/** Near words for a complete word that occurs nowhere. */
export function meantInstead(db: Mirror, { terms }: TypedWord, isOver: () => boolean): readonly MeantWord[] {
  const [only, ...others] = terms
  const slips = only === undefined || others.length > 0 ? 0 : slipsForgiven(only.term)
  if (only === undefined || slips === 0) return []
  if (countHolders(db, [{ terms: [only.term], isPrefix: false }]) > 0) return []
  return nearRare(db, only.term, isOver).slice(0, FEW)
}

export interface SuggestedWord {
  /** The completed last word. */
  readonly text: string
  /** The whole query with that word. */
  readonly query: string
  readonly distance: number
}

const IS_HELD = `
  select 1 from message_terms where message_terms match @match
  union all select 1 from chat_terms where chat_terms match @match
  limit 1
`

/**
 * Completions of the last word. Each occurs in a message or title together with the other typed words. Words that occur
 * only in removed messages are left out.
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
