import { isUnspacedSign, tokenize } from '../../../text/terms/terms.ts'
import { lexQuery } from '../language/lex.ts'
import { splitField } from '../language/read-term.ts'
import { hasWords, type QueryNode, type WordsNode } from '../language/tree.ts'
import { isUnspacedFunctionWord, languageOfQuery, type Language } from './languages.ts'

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
  /** Phrases, prefixes and alternatives: a chat must have each of them, in any message. */
  readonly required: readonly QueryNode[]
  /** Fields: a message counts only if it meets all of them. */
  readonly fields: readonly QueryNode[]
  /** A chat with one of these is left out. */
  readonly excluded: readonly QueryNode[]
}

/**
 * A query that is one word, identifier, path or URL. A URL such as `https://a.example/b?page=2` is read as several words.
 */
export function asksOneThing({ words, required }: Asked, q: string): boolean {
  if (words.length < 2 || required.length > 0) return required.length === 0
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
  const words = texts.map((text) => askedWord(text, language))
  const strict = nodes.filter((node) => !isPlainWord(node))
  return {
    words: [...new Map(words.map((word) => [word.terms.join(' '), word])).values()],
    language,
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

function askedWord(text: string, { functionWords }: Language): AskedWord {
  const terms = tokenize(text).map(({ term }) => term)
  return { text, terms, isFunctionWord: isUnspacedFunctionWord(text) || terms.every((term) => functionWords.has(term)) }
}
