import { stemmer } from '@orama/stemmers/english'
import { stopwords } from '@orama/stopwords/english'
import type { Mirror } from '../../mirror/open.ts'
import { prepared } from '../../mirror/sql.ts'
import { isUnspacedSign, termsOf } from '../../text/terms/terms.ts'
import { findDate, lexQuery, type DateInWords } from './lex.ts'
import { splitField } from './parse.ts'
import { hasWords, type QueryNode, type WordsNode } from './query.ts'

const wordsIn = (list: string): readonly string[] => list.split(' ')

/** Words that say nothing about a topic and are not in the list of the package. */
const OTHERS = wordsIn(
  'please again also still did get got us thing stuff something m re s t ve d ll dont doesnt didnt cant couldnt wont isnt wasnt',
)
/** Of the index: "don't" is two terms, and neither says anything about a topic. */
const functionTerms: ReadonlySet<string> = new Set([...stopwords, ...OTHERS].flatMap(termsOf))
/** In a question these are what is looked for, and not what it is about. */
const lookedFor: ReadonlySet<string> = new Set(wordsIn('chat chats agent conversation conversations'))
/** A query with fewer function words is no question. */
const OF_QUESTION_MIN = 2

export const isFunctionTerm = (term: string): boolean => functionTerms.has(term)

/** Words with a shorter beginning have too many neighbours. */
const BEGINNING_MIN = 3
/** The last letter of a stem may differ from the word: the stem of `memory` is `memori`. */
const STEM_END = 1
/** How many letters a form may have after its stem. */
const ENDING_MAX = 6
/** How many words with the same beginning are looked at, and how many forms of a word are searched for. */
const LOOKED_AT_MAX = 3000
const FORMS_MAX = 32

const NEIGHBOURS = `
  select term from terms where term >= @low and term < @high and length(term) <= @length limit ${LOOKED_AT_MAX}
`
const isWord = /^\p{L}+$/u

/** British and American spellings. Where the other one is no word, the index does not have it. */
const regional = [
  ['our', 'or'],
  ['is', 'iz'],
  ['ys', 'yz'],
  ['ll', 'l'],
  ['tre', 'ter'],
  ['ogue', 'og'],
  ['enc', 'ens'],
] as const
const spellings: readonly (readonly [pattern: RegExp, other: string])[] = [
  ...regional
    .flatMap(([one, other]) => [[one, other] as const, [other, one] as const])
    .map(([one, other]) => [new RegExp(`(?<=^[a-z]{3,})${one}(?=[a-z]{0,6}$)`), other] as const),
  // A possessive, a contraction without its sign, one with it, and a sign between thousands.
  [/['’]s$/i, ''],
  [/['’](?=[a-z]+$)/i, ''],
  [/(?<=^[a-z]+n)(?=t$)/i, "'"],
  [/(?<=^[1-9]\d*)(?=(?:\d{3})+$)/g, ','],
]

/** A word, then the same word as others write it, and the words of the mirror that have the same stem in English. */
export function formsOf(db: Mirror, text: string): readonly string[] {
  const written = new Set([text, ...spellings.map(([pattern, other]) => text.replace(pattern, other))])
  const forms = [...written].flatMap((word) => withSameStem(db, word))
  return [...new Set([...written, ...forms])].slice(0, FORMS_MAX)
}

/** The words of the mirror with the same stem, also the word itself if the mirror has it. */
export function withSameStem(db: Mirror, word: string): readonly string[] {
  const root = stemmer(word)
  const low = word.slice(0, Math.max(BEGINNING_MIN, root.length - STEM_END))
  if (root.length < BEGINNING_MIN || low.length < BEGINNING_MIN || !isWord.test(word)) return []
  const bounds = { low, high: `${low}\u{10ffff}`, length: root.length + ENDING_MAX }
  const near = prepared<string>(db, NEIGHBOURS).pluck().all(bounds)
  return near.filter((other) => isWord.test(other) && stemmer(other) === root)
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
  const texts = nodes.filter(isPlainWord).flatMap(({ text }) => wordsOf(text))
  const date = findDate(texts.join(' '))
  const isQuestion = new Set(texts.flatMap(termsOf).filter(isFunctionTerm)).size >= OF_QUESTION_MIN
  const words = texts.map((text): AskedWord => {
    const terms = termsOf(text)
    const isOfFunction = terms.every((term) => isFunctionTerm(term) || (isQuestion && lookedFor.has(term)))
    return { text, terms, isFunctionWord: isOfFunction || date?.words.includes(text) === true }
  })
  const strict = nodes.filter((node) => !isPlainWord(node))
  return {
    words: [...new Map(words.map((word) => [word.terms.join(' '), word])).values()],
    date,
    required: strict.filter((node) => node.kind !== 'not' && hasWords(node)),
    fields: strict.filter((node) => !hasWords(node)),
    excluded: strict.flatMap((node) => (node.kind === 'not' && hasWords(node) ? [node.node] : [])),
  }
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' })

/** Splits a text that is written without spaces into its words. */
function wordsOf(text: string): readonly string[] {
  if (!termsOf(text).some((term) => isUnspacedSign(Array.from(term)[0] ?? ''))) return [text]
  const words = [...segmenter.segment(text)].filter(({ isWordLike }) => isWordLike === true)
  return words.length === 0 ? [text] : words.map(({ segment }) => segment)
}
