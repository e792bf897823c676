import MiniSearch from 'minisearch'
import type { Mirror } from '../../../mirror/open.ts'
import { prepared } from '../../../mirror/sql.ts'
import { visitLoweredWords, tokenize } from '../../../text/terms/terms.ts'

interface ChatTitle {
  readonly num: number
  readonly title: string
  readonly revision: number
}

/** Of a chat without messages, what its own row has of them counts as its title. Oldest write first. */
const CHAT_TITLES = `
  select num, iif(preview is null, title, title || char(10) || preview) as title, revision
  from chats
  where revision > ?
  order by revision
`

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
 * match too. First yields the titles that match all words, then those that match any: the caller takes the next answer if
 * it can use nothing of the last one. A number may belong to a deleted chat, so the caller must look it up.
 */
export function* matchTitles(db: Mirror, words: string): Generator<ReadonlyMap<number, number>> {
  const { titles } = freshIndex(db)
  for (const combineWith of ['AND', 'OR'] as const) {
    const hits = titles.search(words, { fuzzy: 0.2, prefix: true, combineWith })
    if (hits.length > 0) yield new Map(hits.map((hit) => [Number(hit.id), hit.score]))
  }
}

function freshIndex(db: Mirror): TitleIndex {
  const index = indexes.get(db) ?? { titles: emptyIndex(), revision: 0 }
  indexes.set(db, index)
  for (const { num, title, revision } of prepared<ChatTitle>(db, CHAT_TITLES).all(index.revision)) {
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
