import type { Mirror } from '../../../mirror/open.ts'
import { findsAny } from './count-found.ts'
import type { Deadline } from '../deadline.ts'
import type { QueryNode } from '../language/tree.ts'
import { wordPhrases } from '../plan/word-phrases.ts'
import { withoutNodes, type Asked, type Relaxation } from '../help/relaxations.ts'
import type { SearchRequest } from '../request.ts'
import { countHolders } from '../spelling/holders.ts'

/** How many words a set may start with. The rarest word of a question may be irrelevant. */
const STARTS_MAX = 4
/** How many of the sets are suggested. */
const SUGGESTED_MAX = 2
/** How many words are tried, the rarest first. */
const WORDS_MAX = 12

interface Word {
  readonly node: QueryNode
  /** Higher for rarer words. */
  readonly weight: number
}

/**
 * Finds subsets of the words of a typed sentence that still have hits. Each set starts with one of the rarest words and
 * adds each further word, rarest first, if there are still hits. The sets with the highest weight are first.
 */
export function rarestTogether(
  db: Mirror,
  { tree, filters }: Asked,
  clock: SearchRequest['clock'],
  deadline: Deadline,
): readonly Relaxation[] {
  if (tree?.kind !== 'and') return []
  const reducedTo = (subset: ReadonlySet<QueryNode>): Relaxation => {
    const dropped = tree.nodes.filter((node) => node.kind === 'words' && !subset.has(node))
    return { tree: withoutNodes(tree, new Set(dropped)), filters, names: [], dropped }
  }
  const words = rarestFirst(db, tree.nodes)
  const sets: { readonly subset: ReadonlySet<QueryNode>; readonly weight: number }[] = []
  while (sets.length < STARTS_MAX && !deadline.isPassed()) {
    const start = words.find(({ node }) => !sets.some(({ subset }) => subset.has(node)))
    if (start === undefined) break
    const subset = new Set<QueryNode>([start.node])
    let { weight } = start
    for (const word of words) {
      if (subset.has(word.node)) continue
      if (!findsAny(db, reducedTo(new Set([...subset, word.node])).tree, { filters, clock }, deadline)) continue
      subset.add(word.node)
      weight += word.weight
    }
    sets.push({ subset, weight })
  }
  return sets
    .toSorted((a, b) => b.weight - a.weight)
    .slice(0, SUGGESTED_MAX)
    .map(({ subset }) => reducedTo(subset))
}

/** The words without duplicates, weighed against the most frequent one, such as an article. */
function rarestFirst(db: Mirror, nodes: readonly QueryNode[]): readonly Word[] {
  const asked = new Map(nodes.flatMap((node) => (node.kind === 'words' ? [[node.text, node] as const] : [])))
  const counted = [...asked.values()]
    .map((node) => ({ node, count: countHolders(db, wordPhrases(node.text, node.isPrefix)) }))
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => a.count - b.count)
  const most = counted.at(-1)?.count ?? 0
  return counted.slice(0, WORDS_MAX).map(({ node, count }) => ({ node, weight: Math.log1p(most / count) }))
}
