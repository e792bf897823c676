import type { Mirror } from '../../mirror/open.ts'
import { tokenize } from '../../text/terms/terms.ts'
import type { SearchSuggestion } from '../answers/search.ts'
import { inflectionsOf, readAsked } from './languages.ts'
import { echo, lexQuery } from './lex.ts'
import { printQuery } from './parse.ts'
import type { QueryNode, WordsNode } from './query.ts'
import type { SearchRequest } from './request.ts'
import { respellWord, type Spelling } from './respell.ts'
import { countFound } from './titles.ts'
import { countHolders, nearWords, slipsForgiven } from './vocabulary.ts'
import { wordPhrases } from './condition.ts'

/** A query with misspelled words replaced, and what says so. */
interface Respelt {
  readonly tree: QueryNode
  readonly warning: string
}

interface SpellingCheck {
  /** The query whose hits are shown instead of none. */
  readonly corrected: (Respelt & { readonly text: string }) | null
  /** If there is no such query: the one for the closest chats. */
  readonly closest: Respelt | null
  readonly suggestions: readonly SearchSuggestion[]
}

/** How many queries are suggested, and how many are tried. */
const CORRECTIONS_MAX = 3
const TRIED_MAX = 12
/** How many words of one query are respelled. */
const MISSPELT_MAX = 3

/**
 * Finds other spellings for a search that found nothing or very little. Each unknown word is replaced by the nearest known
 * ones: smallest distance first, then the most frequent. Quoted and excluded words and prefixes stay as they are.
 * @param total number of hits
 */
export function checkSpelling(
  db: Mirror,
  tree: QueryNode | null,
  request: SearchRequest,
  total: number,
): SpellingCheck {
  const unchecked = { corrected: null, closest: null, suggestions: [] }
  if (tree === null) return unchecked
  if (total > 0) return { ...unchecked, suggestions: suggestCommoner(db, tree, request, total) }
  const choices = spellableWords(tree, request.q)
    .filter(({ text }) => countHolders(db, wordPhrases(text, false)) === 0)
    .slice(0, MISSPELT_MAX)
    .map((node) => ({ node, spellings: respellWord(db, node.text) }))
    .filter(({ spellings }) => spellings.length > 0)
  const tried = combinations(choices).slice(0, TRIED_MAX)
  const found: { readonly replaced: Replaced; readonly suggestion: SearchSuggestion }[] = []
  for (const replaced of tried) {
    const suggestion = suggestionOf(db, replaceWords(tree, replaced), request)
    if (suggestion.count > 0) found.push({ replaced, suggestion })
    if (found.length === CORRECTIONS_MAX) break
  }
  const [best] = found
  const [nearest] = tried
  const suggestions = found.map(({ suggestion }) => suggestion)
  if (request.isLiteral === true || nearest === undefined) return { ...unchecked, suggestions }
  if (best === undefined) return { ...unchecked, closest: respellAll(db, tree, nearest) }
  return {
    ...unchecked,
    suggestions,
    corrected: { ...respelt(tree, best.replaced, 'hits'), text: best.suggestion.text },
  }
}

type Replaced = ReadonlyMap<WordsNode, Pick<Spelling, 'text' | 'isPrefix'>>

function suggestionOf(db: Mirror, tree: QueryNode, request: SearchRequest): SearchSuggestion {
  return { text: printQuery(tree), reason: 'spelling', count: countFound(db, tree, request) }
}

function respelt(tree: QueryNode, replaced: Replaced, shown: string): Respelt {
  const typed = echo([...replaced].map(([node]) => node.text).join(' '))
  const meant = echo([...replaced].map(([, { text, isPrefix }]) => `${text}${isPrefix === true ? '*' : ''}`).join(' '))
  const warning = `Nothing was found for ${typed}; these are the ${shown} for ${meant}.`
  return { tree: replaceWords(tree, replaced), warning }
}

/** No message needs to have all of these words, so nothing shows that a spelling is right. So only longer words are replaced. */
function respellAll(db: Mirror, tree: QueryNode, nearest: Replaced): Respelt | null {
  const { language } = readAsked(tree, new Set())
  const replaced = [...nearest].filter(([{ text }, { isPrefix }]) => {
    const [only = '', ...others] = tokenize(text).map(({ term }) => term)
    if (isPrefix === true || others.length > 0) return isPrefix !== true
    // If another form of the word is known, it is spelled correctly, and the closest chats are found by that form.
    return slipsForgiven(only, LETTERS_MIN) > 0 && inflectionsOf(db, only, language).length === 1
  })
  return replaced.length === 0 ? null : respelt(tree, new Map(replaced), 'closest chats')
}

/** A search with more hits was probably spelled as intended. */
const FEW = 3
/** A word counts as a typo of another one that this many times as many messages contain. */
const TIMES_COMMONER = 50
const LETTERS_MIN = 5
const LOOKED_UP_MAX = 10

/** For a search with few hits: suggests a much more frequent word at distance 1. The rare word may be a typo in a message. */
function suggestCommoner(
  db: Mirror,
  tree: QueryNode,
  request: SearchRequest,
  total: number,
): readonly SearchSuggestion[] {
  if (total > FEW) return []
  return spellableWords(tree, request.q).flatMap((node) => {
    const [only, ...others] = tokenize(node.text)
    if (only === undefined || others.length > 0 || slipsForgiven(only.term, LETTERS_MIN) === 0) return []
    const own = countHolders(db, wordPhrases(node.text, false))
    if (own > FEW) return []
    const [first] = nearWords(db, only.term, 1)
      .slice(0, LOOKED_UP_MAX)
      .map(({ term }) => ({ text: term, count: countHolders(db, [{ terms: [term], isPrefix: false }]) }))
      .toSorted((a, b) => b.count - a.count)
    if (first === undefined || first.count < TIMES_COMMONER * own) return []
    const suggestion = suggestionOf(db, replaceWords(tree, new Map([[node, first]])), request)
    return suggestion.count > total ? [suggestion] : []
  })
}

/** The words of a query that may be misspelled. Quoted words are meant as typed. */
function spellableWords(tree: QueryNode, q: string): readonly WordsNode[] {
  const quoted = new Set(lexQuery(q, []).flatMap((token) => (token.kind === 'quote' ? [token.text] : [])))
  return wordsOf(tree).filter(({ text, isPrefix }) => !isPrefix && !quoted.has(text) && !/\s/.test(text))
}

function wordsOf(node: QueryNode): readonly WordsNode[] {
  if (node.kind === 'words') return [node]
  return node.kind === 'and' || node.kind === 'or' ? node.nodes.flatMap(wordsOf) : []
}

/** Combinations of one spelling for each word, smallest distance first. */
function combinations(
  choices: readonly { readonly node: WordsNode; readonly spellings: readonly Spelling[] }[],
): readonly ReadonlyMap<WordsNode, Spelling>[] {
  let all: readonly (readonly (readonly [WordsNode, Spelling])[])[] = choices.length === 0 ? [] : [[]]
  for (const { node, spellings } of choices) {
    all = all.flatMap((one) => spellings.map((spelling) => [...one, [node, spelling] as const]))
  }
  const slips = (one: (typeof all)[number]): number => one.reduce((sum, [, { distance }]) => sum + distance, 0)
  const least = (one: (typeof all)[number]): number => Math.min(...one.map(([, { count }]) => count))
  return all.toSorted((a, b) => slips(a) - slips(b) || least(b) - least(a)).map((one) => new Map(one))
}

/** The same query with some words replaced. */
function replaceWords(node: QueryNode, replaced: Replaced): QueryNode {
  if (node.kind === 'words') {
    const spelling = replaced.get(node)
    return spelling === undefined ? node : { ...node, text: spelling.text, isPrefix: spelling.isPrefix === true }
  }
  if (node.kind !== 'and' && node.kind !== 'or') return node
  return { ...node, nodes: node.nodes.map((each) => replaceWords(each, replaced)) }
}
