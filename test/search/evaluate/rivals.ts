import Database from 'better-sqlite3'
import MiniSearch from 'minisearch'
import { LOOKED_AT, type Engine } from './engine.ts'
import { plainWords } from './plain-words.ts'
import type { Text } from './texts.ts'

/** Plain SQLite FTS5: its default tokenizer and bm25. Every word is quoted and required. */
export function plainFts(texts: readonly Text[]): Engine {
  const db = new Database(':memory:')
  db.exec('create virtual table texts using fts5(text, tokenize = unicode61)')
  const insert = db.prepare('insert into texts (rowid, text) values (?, ?)')
  db.transaction(() => {
    for (const [index, { text }] of texts.entries()) insert.run(BigInt(index), text)
  })()
  const select = db
    .prepare<[string, number], number>('select rowid from texts where texts match ? order by bm25(texts) limit ?')
    .pluck()
  return (ask) => {
    const words = plainWords(ask).map((word) => `"${word.replaceAll('"', '""')}"`)
    const found = words.length === 0 ? [] : select.all(words.join(' AND '), LOOKED_AT)
    return { hits: found.flatMap((index) => texts[index] ?? []), spellings: [] }
  }
}

/** A usual JavaScript library: prefixes, up to a fifth of the letters wrong, best match first. */
export function miniSearch(texts: readonly Text[]): Engine {
  const index = new MiniSearch({ fields: ['text'], searchOptions: { prefix: true, fuzzy: 0.2 } })
  index.addAll(texts.map(({ text }, id) => ({ id, text })))
  return (ask) => {
    const found = index.search(plainWords(ask).join(' ')).slice(0, LOOKED_AT)
    return { hits: found.flatMap(({ id }) => texts[Number(id)] ?? []), spellings: [] }
  }
}
