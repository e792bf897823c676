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
import { tokenize } from '../../../text/terms.ts'

/** What a search has to know of a language: its function words as terms of the index, and what inflected forms share. */
export interface Language {
  readonly functionWords: ReadonlySet<string>
  /** Null for a language that does not inflect its words. */
  readonly stem: ((term: string) => string) | null
}

/** Words of a question that say nothing of its topic, and are in no list. */
const OF_QUESTIONS = [
  'please',
  'again',
  'also',
  'still',
  'did',
  'get',
  'got',
  'us',
  'thing',
  'stuff',
  'something',
  'm',
  're',
  's',
  't',
  've',
  'd',
  'll',
]

const languageOf = (words: readonly string[], stem: Language['stem']): Language => ({
  // "Don't" is two terms: each of them says as little.
  functionWords: new Set(words.flatMap((word) => tokenize(word).map(({ term }) => term))),
  stem,
})

const inEnglish = languageOf([...english, ...OF_QUESTIONS], stemEnglish)
/** Signs that are written without spaces tell their language: the others are told apart by their function words. */
const unspaced = languageOf([], null)
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

/** So many function words of another language make a query one of that language. */
const FUNCTION_WORDS_MIN = 2

/** The language of a query, by the function words in it. English unless more of them are of another. @param terms of the query */
export function languageOfQuery(terms: readonly string[]): Language {
  const countOf = ({ functionWords }: Language): number => new Set(terms.filter((term) => functionWords.has(term))).size
  const [best = unspaced] = others.toSorted((one, other) => countOf(other) - countOf(one))
  return countOf(best) >= FUNCTION_WORDS_MIN && countOf(best) > countOf(inEnglish) ? best : inEnglish
}

/** True for a word of Chinese or Japanese that says nothing of a topic. */
export const isUnspacedFunctionWord = (word: string): boolean => unspacedWords.has(word)
