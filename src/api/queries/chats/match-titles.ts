import MiniSearch, { type QueryCombination, type SearchResult } from 'minisearch'
import type { Mirror } from '../../../mirror/open.ts'
import { visitLoweredWords } from '../../../text/terms/lowered-words.ts'
import { tokenize } from '../../../text/terms/terms.ts'

export interface ChatTitle {
  readonly num: number
  readonly title: string
  readonly revision: number
}

const CHAT_TITLES = `
  select num, title, revision
  from chats
  where revision > ?
  order by revision
`

/** Titles of the chats written after this revision, oldest write first. 0 gives them all. */
export function listChatTitles(db: Mirror, afterRevision: number): ChatTitle[] {
  return db.prepare<[number], ChatTitle>(CHAT_TITLES).all(afterRevision)
}

interface TitleDocument {
  readonly id: number
  readonly title: string
}

interface TitleIndex {
  readonly titles: MiniSearch<TitleDocument>
  revision: number
}

/** One index a connection: a mirror that was replaced is opened anew, and must not be asked for its elder's titles. */
const indexes = new WeakMap<Mirror, TitleIndex>()

/**
 * Row numbers of the chats whose title matches these words, forgiving typos and unfinished words, with a score that
 * grows with the match: the titles that match all words, and behind each answer what to take where nothing in it is
 * wanted, any of the words in the end. A number may belong to a chat that is gone: what the caller selects by it decides.
 */
export function* matchTitles(db: Mirror, words: string): Generator<ReadonlyMap<number, number>> {
  const { titles } = freshIndex(db)
  const forgiving = { fuzzy: 0.2, prefix: true }
  const ways: readonly (() => SearchResult[])[] = [
    () => titles.search(words, { ...forgiving, combineWith: 'AND' }),
    () => titles.search({ combineWith: 'AND', queries: cut(words).map(withSwaps) }, { prefix: true }),
    () => titles.search(words, { ...forgiving, combineWith: 'OR' }),
  ]
  for (const way of ways) {
    const hits = way()
    if (hits.length > 0) yield new Map(hits.map((hit) => [Number(hit.id), hit.score]))
  }
}

const SWAPPED_LENGTH_MAX = 24

/** A word, and all that it is with two neighbouring letters swapped: one slip, which counts as two where letters are changed. */
function withSwaps(word: string): QueryCombination {
  const letters = Array.from(word)
  const isLong = letters.length > SWAPPED_LENGTH_MAX
  const swaps = (isLong ? [] : letters.slice(1)).map((letter, at) =>
    letters
      .with(at, letter)
      .with(at + 1, letters[at] ?? '')
      .join(''),
  )
  return { combineWith: 'OR', queries: [word, ...swaps] }
}

function freshIndex(db: Mirror): TitleIndex {
  const index = indexes.get(db) ?? { titles: emptyIndex(), revision: 0 }
  indexes.set(db, index)
  for (const { num, title, revision } of listChatTitles(db, index.revision)) {
    const document = { id: num, title }
    if (index.titles.has(num)) index.titles.replace(document)
    else index.titles.add(document)
    index.revision = revision
  }
  return index
}

/** Cut into terms as the full-text index is, which folds case and accents too: nothing is left to do to a term. */
function emptyIndex(): MiniSearch<TitleDocument> {
  return new MiniSearch<TitleDocument>({
    fields: ['title'],
    tokenize: (text) => [...cut(text), ...loweredWords(text)],
    searchOptions: { tokenize: cut },
    processTerm: (term) => term,
  })
}

const cut = (text: string): string[] => tokenize(text).map((term) => term.term)

function loweredWords(text: string): string[] {
  const words: string[] = []
  visitLoweredWords(text, (word) => words.push(word))
  return words
}
