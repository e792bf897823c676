import type { Mirror } from '../../mirror/open.ts'
import { tokenize } from '../../text/terms/terms.ts'
import type { SearchSuggestion } from '../answers/search.ts'
import { inflectionsOf, readAsked } from './languages.ts'
import { echo, lexQuery } from './lex.ts'
import { printQuery } from './parse.ts'
import { allOf, anyOf, type QueryNode, type WordsNode } from './query.ts'
import type { SearchRequest } from './request.ts'
import { respellWord, type Spelling } from './respell.ts'
import { countFound } from './titles.ts'
import { countHolders, nearWords, slipsForgiven } from './vocabulary.ts'
import { wordPhrases } from './words.ts'

export interface SpellingCheck {
  /** The query whose hits are shown instead of none. */
  readonly corrected: Correction | null
  readonly suggestions: readonly SearchSuggestion[]
  readonly warnings: readonly string[]
  /** If there is no such query: the query for the closest chats, and what is said if there are any. */
  readonly closest: { readonly tree: QueryNode; readonly warning: string } | null
}

const unchecked: SpellingCheck = { corrected: null, suggestions: [], warnings: [], closest: null }

/** Finds other spellings for a search that found nothing or very little. @param total number of hits */
export function checkSpelling(
  db: Mirror,
  tree: QueryNode | null,
  request: SearchRequest,
  total: number,
): SpellingCheck {
  if (tree === null) return unchecked
  if (total > 0) return { ...unchecked, suggestions: suggestCommoner(db, tree, { ...request, total }) }
  const { corrections, nearest } = correctQuery(db, tree, request)
  const suggestions = corrections.map(({ suggestion }) => suggestion)
  const [best] = corrections
  if (request.isLiteral === true) return { ...unchecked, suggestions }
  if (best === undefined || best.isPartial) return { ...unchecked, suggestions, closest: respellAll(db, tree, nearest) }
  return { ...unchecked, corrected: best, suggestions, warnings: [warningOf(best.words, 'hits')] }
}

/** No message needs to have all of these words, so nothing shows that a spelling is right. So only longer words are replaced. */
function respellAll(db: Mirror, tree: QueryNode, nearest: CorrectedQuery['nearest']): SpellingCheck['closest'] {
  const { language } = readAsked(tree, new Set())
  const replaced = [...nearest].filter(([{ text }, { isPrefix }]) => {
    const [only = '', ...others] = tokenize(text).map(({ term }) => term)
    if (isPrefix === true || others.length > 0) return isPrefix !== true
    // If another form of the word is known, it is spelled correctly, and the closest chats are found by that form.
    return slipsForgiven(only, LETTERS_MIN) > 0 && inflectionsOf(db, only, language).length === 1
  })
  if (replaced.length === 0) return null
  const words = replaced.map(([{ text }, spelling]) => ({ typed: text, meant: spelling.text }))
  return { tree: replaceWords(tree, new Map(replaced)), warning: warningOf(words, 'closest chats') }
}

function warningOf(words: Correction['words'], shown: string): string {
  const typed = quote(words.map((word) => word.typed))
  return `Nothing was found for ${typed}; these are the ${shown} for ${quote(words.map((word) => word.meant))}.`
}

const quote = (words: readonly string[]): string => echo(words.join(' '))

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
  asked: Asked & { readonly total: number },
): readonly SearchSuggestion[] {
  if (asked.total > FEW) return []
  const suggestions: SearchSuggestion[] = []
  for (const node of spellableWords(tree, asked.q)) {
    const commoner = commonerThan(db, node)
    if (commoner === null) continue
    const changed = replaceWords(tree, new Map([[node, commoner]]))
    const count = countFound(db, changed, asked)
    if (count > asked.total) suggestions.push({ text: printQuery(changed), reason: 'spelling', count })
  }
  return suggestions
}

function commonerThan(db: Mirror, { text }: WordsNode): { readonly text: string } | null {
  const [only, ...others] = tokenize(text)
  if (only === undefined || others.length > 0 || slipsForgiven(only.term, LETTERS_MIN) === 0) return null
  const own = countHolders(db, wordPhrases(text, false))
  if (own > FEW) return null
  const counted = nearWords(db, only.term, 1)
    .slice(0, LOOKED_UP_MAX)
    .map(({ term }) => ({ text: term, count: countHolders(db, [{ terms: [term], isPrefix: false }]) }))
  const [first] = counted.toSorted((a, b) => b.count - a.count)
  return first !== undefined && first.count >= TIMES_COMMONER * own ? first : null
}

/** A query with misspelled words replaced, which finds something. */
interface Correction {
  readonly tree: QueryNode
  readonly suggestion: SearchSuggestion
  /** The typed words and their replacements. */
  readonly words: readonly { readonly typed: string; readonly meant: string }[]
  /** True if words without a near spelling were left out. It can be suggested, but must not replace the query. */
  readonly isPartial: boolean
}

interface CorrectedQuery {
  readonly corrections: readonly Correction[]
  /** The unknown words with their nearest spellings, whether a query with these finds anything or not. */
  readonly nearest: Replaced
}

type Asked = Pick<SearchRequest, 'q' | 'filters' | 'clock'>

/** How many queries are suggested, and how many are tried. */
const CORRECTIONS_MAX = 3
const TRIED_MAX = 12
/** How many words of one query are respelled. */
const MISSPELT_MAX = 3

/**
 * Queries in which each unknown word is replaced by the nearest known one: smallest distance first, then the most
 * frequent. Each query finds something. Quoted words, excluded words and prefixes stay as they are. If no such query finds
 * anything, unknown words without a near spelling are left out.
 */
function correctQuery(db: Mirror, tree: QueryNode, asked: Asked): CorrectedQuery {
  const unheld = spellableWords(tree, asked.q).filter(({ text }) => countHolders(db, wordPhrases(text, false)) === 0)
  const choices = unheld.slice(0, MISSPELT_MAX).flatMap((node) => {
    const spellings = respellWord(db, node.text)
    return spellings.length === 0 ? [] : [{ node, spellings }]
  })
  const tried = combinations(choices).slice(0, TRIED_MAX)
  const among = (kept: QueryNode, isPartial: boolean): readonly Correction[] => {
    const found: Correction[] = []
    for (const replaced of tried) {
      if (found.length >= CORRECTIONS_MAX) break
      const corrected = replaceWords(kept, replaced)
      const count = countFound(db, corrected, asked)
      if (count > 0) found.push(correctionOf(corrected, replaced, count, isPartial))
    }
    return found
  }
  const whole = among(tree, false)
  const respelt = new Set<QueryNode>(choices.map(({ node }) => node))
  const hopeless = new Set<QueryNode>(unheld.filter((node) => !respelt.has(node)))
  const rest = whole.length > 0 || hopeless.size === 0 ? null : withoutNodes(tree, hopeless)
  return { corrections: rest === null ? whole : among(rest, true), nearest: tried[0] ?? new Map() }
}

/** A query without some of its words. Null if nothing remains. */
function withoutNodes(tree: QueryNode, unwanted: ReadonlySet<QueryNode>): QueryNode | null {
  if (unwanted.has(tree)) return null
  if (tree.kind !== 'and' && tree.kind !== 'or') return tree
  const left = tree.nodes.flatMap((node) => withoutNodes(node, unwanted) ?? [])
  return tree.kind === 'and' ? allOf(left) : anyOf(left)
}

type Replaced = ReadonlyMap<WordsNode, Spelling>

function correctionOf(tree: QueryNode, replaced: Replaced, count: number, isPartial: boolean): Correction {
  return {
    tree,
    suggestion: { text: printQuery(tree), reason: 'spelling', count },
    words: [...replaced].map(([node, spelling]) => ({
      typed: node.text,
      meant: `${spelling.text}${spelling.isPrefix === true ? '*' : ''}`,
    })),
    isPartial,
  }
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

interface Choice {
  readonly node: WordsNode
  readonly spellings: readonly Spelling[]
}

/** Combinations of one spelling for each word, smallest distance first. */
function combinations(choices: readonly Choice[]): readonly Replaced[] {
  if (choices.length === 0) return []
  const all = choices.reduce<readonly (readonly (readonly [WordsNode, Spelling])[])[]>(
    (made, { node, spellings }) => made.flatMap((one) => spellings.map((spelling) => [...one, [node, spelling]])),
    [[]],
  )
  const slips = (one: (typeof all)[number]): number => one.reduce((sum, [, { distance }]) => sum + distance, 0)
  const least = (one: (typeof all)[number]): number => Math.min(...one.map(([, { count }]) => count))
  return all.toSorted((a, b) => slips(a) - slips(b) || least(b) - least(a)).map((one) => new Map(one))
}

/** The same query with some words replaced. */
function replaceWords(
  node: QueryNode,
  replaced: ReadonlyMap<WordsNode, Pick<Spelling, 'text' | 'isPrefix'>>,
): QueryNode {
  if (node.kind === 'words') {
    const spelling = replaced.get(node)
    return spelling === undefined ? node : { ...node, text: spelling.text, isPrefix: spelling.isPrefix === true }
  }
  if (node.kind !== 'and' && node.kind !== 'or') return node
  return { ...node, nodes: node.nodes.map((each) => replaceWords(each, replaced)) }
}
