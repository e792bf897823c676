import type { Mirror } from '../../../mirror/open.ts'
import type { WantedPhrase } from '../../../text/passages/matcher.ts'
import type { Clock } from '../../periods.ts'
import type { QueryNode } from '../language/tree.ts'
import { BRANCHES_MAX, branchesOf, type Branch } from './branch.ts'
import { conditionOf, type Lookup } from './conditions.ts'
import type { Condition } from './condition.ts'
import type { PhrasesMatch } from './match.ts'
import { tightenBounds } from './tighten-bounds.ts'

/** A query as the mirror is asked it. */
export interface QueryPlan {
  /** The ways in which a message can pass; none where nothing can. */
  readonly branches: readonly Branch[]
  /** The same over titles, words of which stand in a message's place; only those that words are asked of. */
  readonly titleBranches: readonly Branch[]
  /** What to mark in a passage. */
  readonly phrases: readonly WantedPhrase[]
  /** What a message or a title is ranked by: each word that was asked for, once. */
  readonly words: readonly PhrasesMatch[]
  readonly hasWords: boolean
  readonly warnings: readonly string[]
  readonly condition: Condition
}

/** @param trees all of them must hold; `in:` of one reaches into the others */
export function planQuery(db: Mirror, trees: readonly QueryNode[], clock: Clock): QueryPlan {
  const warnings: string[] = []
  const lookup: Lookup = { db, clock, warnings, fields: new Map() }
  const [only] = trees
  const tree: QueryNode = trees.length === 1 && only !== undefined ? only : { kind: 'and', nodes: trees }
  const condition = conditionOf(tree, lookup, 'message')
  const messages = branchesOf(condition)
  const titles = branchesOf(conditionOf(tree, lookup, 'title'))
  if (messages.isCut || titles.isCut) {
    warnings.push(`The query says more than ${BRANCHES_MAX} things by OR: only the first were searched for.`)
  }
  const branches = messages.branches.map((branch) => tightenBounds(db, branch))
  const titleBranches = titles.branches.filter((branch) => branch.match !== null)
  const all = [...branches, ...titleBranches]
  return {
    branches,
    titleBranches,
    phrases: [...new Map(all.flatMap((branch) => branch.phrases.map(keyed))).values()],
    words: [...new Map(all.flatMap((branch) => branch.words.map(wordKeyed))).values()],
    hasWords: all.some((branch) => branch.hasWords),
    warnings,
    condition,
  }
}

const keyed = (phrase: WantedPhrase): [string, WantedPhrase] => [JSON.stringify(phrase), phrase]

const wordKeyed = (word: PhrasesMatch): [string, PhrasesMatch] => [JSON.stringify(word.phrases), word]
