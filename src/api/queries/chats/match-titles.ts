import MiniSearch, { type QueryCombination, type SearchResult } from 'minisearch'
import type { Mirror } from '../../../mirror/open.ts'
import { visitLoweredWords, tokenize } from '../../../text/terms/terms.ts'

export interface ChatTitle {
  readonly num: number
  readonly title: string
  readonly revision: number
}

/** Of a chat without messages, what its own row has of them counts as its title. */
const CHAT_TITLES = `
  select num, iif(preview is null, title, title || char(10) || preview) as title, revision
  from chats
  where revision > ?
  order by revision
`

/** Titles of the chats that were written after this revision, oldest write first. 0 gives all. */
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

/** One index per connection: a replaced mirror gets a new connection and must not use the titles of the old one. */
const indexes = new WeakMap<Mirror, TitleIndex>()

/**
 * Row numbers of the chats whose titles match these words, with a score; higher is better. Typos and unfinished words
 * match too. First yields the titles that match all words, then weaker matches, and at last those that match any word:
 * the caller takes the next answer if it can use nothing of the last one. A number may belong to a deleted chat, so the
 * caller must look it up.
 */
export function* matchTitles(db: Mirror, words: string): Generator<ReadonlyMap<number, number>> {
  const { titles } = freshIndex(db)
  const fuzzy = { fuzzy: 0.2, prefix: true }
  const searches: readonly (() => SearchResult[])[] = [
    () => titles.search(words, { ...fuzzy, combineWith: 'AND' }),
    () => titles.search({ combineWith: 'AND', queries: cut(words).map(withSwaps) }, { prefix: true }),
    () => titles.search(words, { ...fuzzy, combineWith: 'OR' }),
  ]
  for (const search of searches) {
    const hits = search()
    if (hits.length > 0) yield new Map(hits.map((hit) => [Number(hit.id), hit.score]))
  }
}

const SWAPPED_LENGTH_MAX = 24

/** A word, or the word with two neighbouring letters swapped. That is one typo, but fuzzy matching counts it as two. */
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

/** Tokenizes like the full-text index, which also folds case and accents. So `processTerm` has nothing to do. */
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
