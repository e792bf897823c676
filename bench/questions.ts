import type Sqlite from 'better-sqlite3'
import { indexOf, openMirror } from './daemon.ts'
import { createRandom, type Random } from './words.ts'

/** The same question for cursordex and for FTS5. */
export interface Question {
  readonly q: string
  readonly match: string
}

const LINKS = ['how did we', 'the', 'in', 'when the', 'and'] as const

/** Questions of each kind, drawn from the mirror. The same mirror gives the same questions. */
export function drawQuestions(mirrorPath: string, each: number) {
  const db = openMirror(mirrorPath)
  try {
    const random = createRandom(7)
    const messages = db.prepare<[], number>('select count(*) from messages').pluck().get() ?? 0
    const vocabulary = listWords(db)
    const between = (least: number, most: number): readonly string[] => {
      const fitting = vocabulary.filter(({ doc }) => doc >= least && doc <= most)
      return draw(fitting, each, random).map(({ term }) => term)
    }
    const texts = draw(listTexts(db), each, random)
    const [rare, common] = [between(2, 60), between(messages * 0.2, messages)]
    const middling = between(messages * 0.004, messages * 0.02).filter(({ length }) => length > 4)
    const prefixes = (length: number): Question[] =>
      middling.map((word) => ({ q: `${word.slice(0, length)}*`, match: `"${word.slice(0, length)}" *` }))
    /** As a person asks, with words of different messages. */
    const ask = (): Question => {
      const words = draw(texts, LINKS.length, random).flatMap((text) => draw(text, 1, random))
      const q = words.map((found, at) => `${LINKS[at] ?? ''} ${found}`).join(' ')
      return { q, match: quoted(words).join(' OR ') }
    }
    return {
      rare: rare.map(word),
      middling: middling.map(word),
      common: common.map(word),
      two: texts.map((text) => allOf(draw(text, 2, random))),
      phrase: texts.map((text) => phraseOf(text, random)),
      prefix2: prefixes(2),
      prefix3: prefixes(3),
      prefix4: prefixes(4),
      inside: middling.map((found) => ({ q: `*${found.slice(1, 5)}*`, match: '' })),
      sentence: Array.from({ length: each }, ask),
      typed: middling.map((found) => word(found.slice(0, 3))),
      swapped: middling.map((found) => word(found.slice(0, 2) + found.charAt(3) + found.charAt(2) + found.slice(4))),
    }
  } finally {
    db.close()
  }
}

export type KindName = keyof ReturnType<typeof drawQuestions>

/** Paths of searches of the common kinds, for measures that only need some. */
export function drawPaths(mirrorPath: string, each: number): readonly string[] {
  const { rare, middling, common, two, phrase, prefix3 } = drawQuestions(mirrorPath, each)
  const all = [rare, middling, common, two, phrase, prefix3].flat()
  return all.map(({ q }) => `/api/search?q=${encodeURIComponent(q)}`)
}

const isPlain = (text: string): boolean => /^[a-z]{3,}$/.test(text)

function listWords(db: Sqlite.Database): { readonly term: string; readonly doc: number }[] {
  db.exec(`create virtual table temp.words using fts5vocab(${indexOf(db)}, message_terms, row)`)
  const all = db.prepare<[], { term: string; doc: number }>('select term, doc from temp.words where doc > 1').all()
  return all.filter(({ term }) => isPlain(term))
}

const TEXTS = `select json_extract(parts, '$[0].text') from bodies where num % 7 = 0 limit 2000`

/** Plain words of messages, without data of tools. */
const listTexts = (db: Sqlite.Database): readonly (readonly string[])[] =>
  db
    .prepare<[], string | null>(TEXTS)
    .pluck()
    .all()
    .map((text) => (text ?? '').split(' ').filter(isPlain))
    .filter(({ length }) => length > 1)

const draw = <Item>(items: readonly Item[], count: number, random: Random): Item[] =>
  Array.from({ length: items.length === 0 ? 0 : count }, () => items[Math.floor(random() * items.length)]).filter(
    (item) => item !== undefined,
  )

const quoted = (words: readonly string[]): readonly string[] => words.map((each) => `"${each}"`)

const word = (text: string): Question => ({ q: text, match: `"${text}"` })

const allOf = (words: readonly string[]): Question => ({ q: words.join(' '), match: quoted(words).join(' AND ') })

function phraseOf(words: readonly string[], random: Random): Question {
  const start = Math.floor(random() * (words.length - 1))
  const phrase = `"${words.slice(start, start + 2).join(' ')}"`
  return { q: phrase, match: phrase }
}
