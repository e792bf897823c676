import type { Mirror } from '../../../mirror/open.ts'
import { countFound } from '../match/count-found.ts'
import type { Deadline } from '../deadline.ts'
import { lexQuery } from '../language/lex.ts'
import { printQuery } from '../language/print.ts'
import { allOf, anyOf, type QueryNode, type WordsNode } from '../language/tree.ts'
import { wordPhrases } from '../plan/word-phrases.ts'
import type { SearchRequest } from '../request.ts'
import { countHolders, type Spelling } from './count-holders.ts'
import { respellWord } from './respell-word.ts'
import type { SearchSuggestion } from '../../answers/search.ts'

/** A query with misspelled words replaced, which finds something. */
export interface Correction {
  readonly tree: QueryNode
  readonly suggestion: SearchSuggestion
  /** The typed words and their replacements. */
  readonly words: readonly { readonly typed: string; readonly meant: string }[]
  /** True if words without a near spelling were left out. It can be suggested, but must not replace the query. */
  readonly isPartial: boolean
}

export interface CorrectedQuery {
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
 * @param isOver ends the search for spellings
 */
export function correctQuery(
  db: Mirror,
  tree: QueryNode,
  asked: Asked,
  deadline: Deadline,
  isOver: () => boolean,
): CorrectedQuery {
  const unheld = spellableWords(tree, asked.q).filter(({ text }) => countHolders(db, wordPhrases(text, false)) === 0)
  const choices = unheld.slice(0, MISSPELT_MAX).flatMap((node) => {
    const spellings = isOver() ? [] : respellWord(db, node, isOver)
    return spellings.length === 0 ? [] : [{ node, spellings }]
  })
  const tried = combinations(choices).slice(0, TRIED_MAX)
  const among = (kept: QueryNode, isPartial: boolean): readonly Correction[] => {
    const found: Correction[] = []
    for (const replaced of tried) {
      if (found.length >= CORRECTIONS_MAX || isOver()) break
      const corrected = replaceWords(kept, replaced)
      const count = countFound(db, corrected, asked, deadline)
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
export function spellableWords(tree: QueryNode, q: string): readonly WordsNode[] {
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
export function replaceWords(
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
