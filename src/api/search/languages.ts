import { stopwords as german } from '@orama/stopwords/german'
import { stopwords as english } from '@orama/stopwords/english'
import { stopwords as dutch } from '@orama/stopwords/dutch'
import { stopwords as french } from '@orama/stopwords/french'
import { stopwords as italian } from '@orama/stopwords/italian'
import { stopwords as mandarin } from '@orama/stopwords/mandarin'
import { stopwords as japanese } from '@orama/stopwords/japanese'
import { stopwords as portuguese } from '@orama/stopwords/portuguese'
import { stopwords as russian } from '@orama/stopwords/russian'
import { stopwords as spanish } from '@orama/stopwords/spanish'
import { stopwords as swedish } from '@orama/stopwords/swedish'
import { stopwords as turkish } from '@orama/stopwords/turkish'
import { stemmer as stemDutch } from '@orama/stemmers/dutch'
import { stemmer as stemEnglish } from '@orama/stemmers/english'
import { stemmer as stemFrench } from '@orama/stemmers/french'
import { stemmer as stemGerman } from '@orama/stemmers/german'
import { stemmer as stemItalian } from '@orama/stemmers/italian'
import { stemmer as stemPortuguese } from '@orama/stemmers/portuguese'
import { stemmer as stemRussian } from '@orama/stemmers/russian'
import { stemmer as stemSpanish } from '@orama/stemmers/spanish'
import { stemmer as stemSwedish } from '@orama/stemmers/swedish'
import { stemmer as stemTurkish } from '@orama/stemmers/turkish'
import type { Mirror } from '../../mirror/open.ts'
import { prepared } from '../../mirror/sql.ts'
import { isUnspacedSign, tokenize } from '../../text/terms/terms.ts'
import { findDate, lexQuery, type DateInWords } from './lex.ts'
import { splitField } from './parse.ts'
import { hasWords, type QueryNode, type WordsNode } from './query.ts'

/** What a search needs to know about a language. */
export interface Language {
  /** As terms of the index. */
  readonly functionWords: ReadonlySet<string>
  /** Inflected forms of a word have the same stem. */
  readonly stem: (term: string) => string
}

const wordsIn = (list: string): readonly string[] => list.split(' ')

/** Words that say nothing about a topic and are not in the lists. */
const OTHERS = wordsIn(
  'please again also still did get got us thing stuff something m re s t ve d ll dont doesnt didnt cant couldnt wont isnt wasnt',
)
/** In a question these are what is looked for, and not what it is about. */
const OF_QUESTIONS = wordsIn('chat chats agent conversation conversations')

const languageOf = (words: readonly string[], stem: Language['stem']): Language => ({
  // "Don't" is two terms, and neither says anything about a topic.
  functionWords: new Set(words.flatMap((word) => tokenize(word).map(({ term }) => term))),
  stem,
})

const inEnglish = languageOf([...english, ...OTHERS], stemEnglish)
const inEnglishQuestion = languageOf([...english, ...OTHERS, ...OF_QUESTIONS], stemEnglish)
/** Chinese and Japanese need no language of their own: their words are not inflected. */
const unspacedWords: ReadonlySet<string> = new Set([...mandarin, ...japanese])
const others: readonly Language[] = [
  languageOf(german, stemGerman),
  languageOf(french, stemFrench),
  languageOf(spanish, stemSpanish),
  languageOf(portuguese, stemPortuguese),
  languageOf(italian, stemItalian),
  languageOf(dutch, stemDutch),
  languageOf(swedish, stemSwedish),
  languageOf(turkish, stemTurkish),
  languageOf(russian, stemRussian),
]

/** A query with fewer function words of a language is taken as English. */
const FUNCTION_WORDS_MIN = 2

/** Guesses the language of a query from its function words. It is English unless another language has more of them. */
function languageOfQuery(terms: readonly string[]): Language {
  const countOf = ({ functionWords }: Language): number => new Set(terms.filter((term) => functionWords.has(term))).size
  const [best = inEnglish] = others.toSorted((one, other) => countOf(other) - countOf(one))
  if (countOf(best) >= FUNCTION_WORDS_MIN && countOf(best) > countOf(inEnglish)) return best
  return countOf(inEnglish) >= FUNCTION_WORDS_MIN ? inEnglishQuestion : inEnglish
}

/** Shorter stems have few forms, and too many words begin with them. */
const STEM_LENGTH_MIN = 3
/** The last letter of a stem may differ from the word: the stem of `memory` is `memori`. */
const STEM_END = 1
/** How many letters a form may have after its stem. */
const ENDING_MAX = 6
/** How many words with the same beginning are looked at, and how many forms of a word are searched for. */
const LOOKED_AT_MAX = 3000
const FORMS_MAX = 24

const NEIGHBOURS = `
  select term from terms where term >= @low and term < @high and length(term) <= @length limit ${LOOKED_AT_MAX}
`
const isWord = /^\p{L}+$/u

/** British and American spellings: what differs, and what may follow it. */
const regional = (
  [
    ['our', 'or', '|s|ed|ing|al|able|ful|ites?'],
    ['is', 'iz', 'e[sd]?|ers?|ing|ations?'],
    ['ys', 'yz', 'e[sd]?|ers?|ing'],
    ['ll', 'l', 'ed|ing|ers?|ations?'],
    ['tre', 'ter', '|s|d'],
    ['ogue', 'og', '|s'],
    ['enc', 'ens', 'e[sd]?'],
  ] as const
).flatMap(([british, american, ends]) => [
  { pattern: new RegExp(`^(.{3,})${british}(${ends})$`), other: `$1${american}$2` },
  { pattern: new RegExp(`^(.{3,})${american}(${ends})$`), other: `$1${british}$2` },
])

/** The same word as others spell it. Some of these exist in no language. */
const regionalSpellings = (term: string): readonly string[] =>
  regional.flatMap(({ pattern, other }) => (pattern.test(term) ? [term.replace(pattern, other)] : []))

/** The word itself, and then the words of the mirror that have the same stem, in either spelling of English. */
export function inflectionsOf(db: Mirror, term: string, { stem }: Language): readonly string[] {
  if (!isWord.test(term)) return [term]
  const forms = [term, ...regionalSpellings(term)].flatMap((each) => withSameStem(db, each, stem))
  return [...new Set([term, ...forms])].slice(0, FORMS_MAX + 1)
}

function withSameStem(db: Mirror, term: string, stem: Language['stem']): readonly string[] {
  const root = stem(term)
  const length = Math.max(STEM_LENGTH_MIN, Math.min(root.length - STEM_END, commonLength(root, term)))
  const beginning = term.slice(0, length)
  if (root.length < STEM_LENGTH_MIN || beginning.length < STEM_LENGTH_MIN) return []
  const bounds = { low: beginning, high: `${beginning}\u{10ffff}`, length: root.length + ENDING_MAX }
  const near = prepared<string>(db, NEIGHBOURS).pluck().all(bounds)
  return near.filter((other) => isWord.test(other) && stem(other) === root)
}

/** A number from a thousand on as English writes it: `1838` is also `1,838`. */
const grouped = (text: string): readonly string[] =>
  /^[1-9]\d{3,8}$/.test(text) ? [text.replaceAll(/(?<=\d)(?=(?:\d{3})+$)/g, ',')] : []

/** `user's` is about `user`, and `dont` is `don't` without its sign. */
const owner = /^(.+)['’]s$/iu
const contracted = /^(.+)['’](?=[a-z]+$)/iu
const unsigned = /^(\p{L}+n)t$/iu

/**
 * Other forms of a word: inflected or in the other spelling of English, without a possessive, with or without the sign of a
 * contraction, with a sign between thousands. A name of several words has no other forms: `userNames` is another one.
 */
export function formsOfWord(db: Mirror, text: string, language: Language): readonly string[] {
  const [part, ...more] = tokenize(text)
  const inflected = part === undefined || more.length > 0 ? [] : inflectionsOf(db, part.term, language).slice(1)
  const signs = [text.replace(owner, '$1'), text.replace(contracted, '$1'), text.replace(unsigned, "$1't")]
  return [...new Set([...grouped(text), ...signs, ...inflected])].filter((form) => form !== text)
}

function commonLength(one: string, other: string): number {
  let length = 0
  while (length < one.length && one.charAt(length) === other.charAt(length)) length += 1
  return length
}

/** One word of a query as a person sees it, with its terms in the index. */
export interface AskedWord {
  readonly text: string
  /** In order; several for an identifier such as `getUserName`. */
  readonly terms: readonly string[]
  readonly isFunctionWord: boolean
}

/** A query in two parts: words that a chat may lack, and conditions that it must meet. */
export interface Asked {
  /** Without duplicates. */
  readonly words: readonly AskedWord[]
  readonly language: Language
  /** A date among the words. Its words say when, and not what about. */
  readonly date: DateInWords | null
  /** Phrases, prefixes and alternatives: a chat must have each of them, in any message. */
  readonly required: readonly QueryNode[]
  /** Fields: a message counts only if it meets all of them. */
  readonly fields: readonly QueryNode[]
  /** A chat with one of these is left out. */
  readonly excluded: readonly QueryNode[]
}

/** Whether a query is one word, identifier, path or URL. A URL such as `https://a.example/b?page=2` is read as several words. */
export function asksOneThing({ words, required }: Asked, q: string): boolean {
  if (required.length > 0 || words.length < 2) return required.length === 0
  const chunks = lexQuery(q, []).filter(
    (token) => token.kind === 'chunk' && !token.isNegated && splitField(token.text) === null,
  )
  return chunks.length === 1 && /[/\\]/.test(chunks[0]?.source ?? '')
}

/** @param quoted nodes of the tree that were in quotation marks: a chat must have exactly these words */
export function readAsked(tree: QueryNode, quoted: ReadonlySet<QueryNode>): Asked {
  const nodes = tree.kind === 'and' ? tree.nodes : [tree]
  const isPlainWord = (node: QueryNode): node is WordsNode =>
    node.kind === 'words' && !node.isPrefix && !quoted.has(node)
  const plain = nodes.filter(isPlainWord)
  const texts = plain.flatMap(({ text }) => wordsOf(text))
  const language = languageOfQuery(texts.flatMap((text) => tokenize(text).map(({ term }) => term)))
  const date = findDate(texts.join(' '))
  const words = texts.map((text) => askedWord(text, language, new Set(date?.words ?? [])))
  const strict = nodes.filter((node) => !isPlainWord(node))
  return {
    words: [...new Map(words.map((word) => [word.terms.join(' '), word])).values()],
    language,
    date,
    required: strict.filter((node) => node.kind !== 'not' && hasWords(node)),
    fields: strict.filter((node) => !hasWords(node)),
    excluded: strict.flatMap((node) => (node.kind === 'not' && hasWords(node) ? [node.node] : [])),
  }
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' })

/** Splits a text that is written without spaces into its words. */
function wordsOf(text: string): readonly string[] {
  const isUnspaced = tokenize(text).some(({ term }) => isUnspacedSign(Array.from(term)[0] ?? ''))
  if (!isUnspaced) return [text]
  const words = [...segmenter.segment(text)].flatMap(({ segment, isWordLike }) =>
    isWordLike === true ? [segment] : [],
  )
  return words.length === 0 ? [text] : words
}

function askedWord(text: string, { functionWords }: Language, ofDate: ReadonlySet<string>): AskedWord {
  const terms = tokenize(text.replace(owner, '$1')).map(({ term }) => term)
  const isFunctionWord = terms.every((term) => functionWords.has(term)) || unspacedWords.has(text) || ofDate.has(text)
  return { text, terms, isFunctionWord }
}
