import type Sqlite from 'better-sqlite3'
import Database from '../src/sqlite.ts'
import { createRandom, type Random } from './words.ts'

/** The same question for cursordex and for FTS5. */
export interface Question {
  readonly q: string
  readonly match: string
}

export interface Kind {
  readonly name: string
  readonly asked: readonly Question[]
}

/** Questions of each kind, drawn from the mirror. The same mirror gives the same questions. */
export function drawQuestions(mirrorPath: string, each: number): Kind[] {
  const db = new Database(mirrorPath, { readonly: true })
  try {
    const random = createRandom(7)
    const words = listWords(db)
    const messages = db.prepare<[], number>('select count(*) from messages').pluck().get() ?? 0
    const between = (least: number, most: number): Question[] => {
      const fitting = words.filter(({ doc }) => doc >= least && doc <= most)
      return draw(fitting, each, random).map(({ term }) => ({ q: term, match: `"${term}"` }))
    }
    const texts = draw(listTexts(db), each, random).map((text) => text.split(' ').filter(isPlain))
    return [
      { name: 'rare word (2 to 60 messages)', asked: between(2, 60) },
      { name: 'middling word (0.4% to 2%)', asked: between(messages * 0.004, messages * 0.02) },
      { name: 'common word (over 20%)', asked: between(messages * 0.2, messages) },
      { name: 'two words of one message', asked: texts.map((found) => makeAnd(draw(found, 2, random))) },
      { name: 'phrase of two', asked: texts.map((found) => makePhrase(found, random)) },
      { name: 'prefix of three letters', asked: between(2, messages).map(({ q }) => makePrefix(q)) },
    ]
  } finally {
    db.close()
  }
}

const LINKS = ['how did we', 'the', 'in', 'when the', 'and'] as const

/** Sentences of a person and noun phrases of an agent, with words from different messages. */
export function drawSentences(mirrorPath: string, each: number): Kind[] {
  const db = new Database(mirrorPath, { readonly: true })
  try {
    const random = createRandom(11)
    const texts = listTexts(db).map((text) => text.split(' ').filter(isPlain))
    const wordsOf = (count: number): readonly string[] =>
      draw(texts, count, random).flatMap((words) => draw(words, 1, random))
    const sentence = (): Question => {
      const words = wordsOf(LINKS.length)
      return any(words, words.map((word, at) => `${LINKS[at] ?? ''} ${word}`).join(' '))
    }
    const ofMany = (): Question => any(...twice(wordsOf(12)))
    return [
      { name: 'a sentence of five words and function words', asked: Array.from({ length: each }, sentence) },
      { name: 'twelve words', asked: Array.from({ length: each }, ofMany) },
    ]
  } finally {
    db.close()
  }
}

const twice = (words: readonly string[]): [readonly string[], string] => [words, words.join(' ')]

const any = (words: readonly string[], q: string): Question => ({
  q,
  match: words.map((word) => `"${word}"`).join(' OR '),
})

const isPlain = (word: string): boolean => /^[a-z]{3,}$/.test(word)

function listWords(db: Sqlite.Database): { readonly term: string; readonly doc: number }[] {
  db.exec(`create virtual table temp.words using fts5vocab(main, message_terms, row)`)
  const all = db.prepare<[], { term: string; doc: number }>('select term, doc from temp.words where doc > 1').all()
  return all.filter(({ term }) => isPlain(term))
}

const TEXTS = `select json_extract(parts, '$[0].text') from bodies where num % 7 = 0 limit 2000`

/** Texts of messages, without data of tools. */
function listTexts(db: Sqlite.Database): string[] {
  const texts = db.prepare<[], string | null>(TEXTS).pluck().all()
  return texts.flatMap((text) => (text !== null && text.split(' ').filter(isPlain).length > 1 ? [text] : []))
}

const draw = <Item>(items: readonly Item[], count: number, random: Random): Item[] =>
  Array.from({ length: items.length === 0 ? 0 : count }, () => items[Math.floor(random() * items.length)]).filter(
    (item) => item !== undefined,
  )

const makeAnd = (words: readonly string[]): Question => ({
  q: words.join(' '),
  match: words.map((word) => `"${word}"`).join(' AND '),
})

function makePhrase(words: readonly string[], random: Random): Question {
  const start = Math.floor(random() * (words.length - 1))
  const phrase = `"${words.slice(start, start + 2).join(' ')}"`
  return { q: phrase, match: phrase }
}

const makePrefix = (word: string): Question => ({ q: `${word.slice(0, 3)}*`, match: `"${word.slice(0, 3)}" *` })
