import type { Mirror } from '../../../mirror/open.ts'
import { findsAny } from './count-found.ts'
import type { Deadline } from '../deadline.ts'
import type { QueryNode } from '../language/tree.ts'
import { wordPhrases } from '../plan/word-phrases.ts'
import { withoutNodes, type Asked, type Relaxation } from '../help/relaxations.ts'
import type { SearchRequest } from '../request.ts'
import { countHolders } from '../spelling/holders.ts'

/** What is rare in a question may stand in it by chance: so many of its words are begun with. */
const BEGUN_MAX = 4
/** Of what comes of those, so many are offered. */
const OFFERED_MAX = 2
/** Words of one question that are tried, the rarest. */
const WORDS_MAX = 12

interface Word {
  readonly node: QueryNode
  /** The rarer, the more. */
  readonly weight: number
}

/**
 * What is left of a question that was typed as a sentence: its words, the rarest first, each of them kept beside which
 * there is something still. Of several such ways those stand first whose words tell most.
 */
export function rarestTogether(
  db: Mirror,
  { tree, filters }: Asked,
  clock: SearchRequest['clock'],
  deadline: Deadline,
): readonly Relaxation[] {
  if (tree?.kind !== 'and') return []
  const keeping = (kept: ReadonlySet<QueryNode>): Relaxation => {
    const dropped = tree.nodes.filter((node) => node.kind === 'words' && !kept.has(node))
    return { tree: withoutNodes(tree, new Set(dropped)), filters, names: [], dropped }
  }
  const words = rarestFirst(db, tree.nodes)
  const ways: { readonly kept: ReadonlySet<QueryNode>; readonly weight: number }[] = []
  while (ways.length < BEGUN_MAX && !deadline.isPassed()) {
    const begin = words.find(({ node }) => !ways.some(({ kept }) => kept.has(node)))
    if (begin === undefined) break
    const kept = new Set<QueryNode>([begin.node])
    let { weight } = begin
    for (const word of words) {
      if (kept.has(word.node)) continue
      if (!findsAny(db, keeping(new Set([...kept, word.node])).tree, { filters, clock }, deadline)) continue
      kept.add(word.node)
      weight += word.weight
    }
    ways.push({ kept, weight })
  }
  return ways
    .toSorted((a, b) => b.weight - a.weight)
    .slice(0, OFFERED_MAX)
    .map(({ kept }) => keeping(kept))
}

/** Each once, weighed against the most frequent of them, such as an article. */
function rarestFirst(db: Mirror, nodes: readonly QueryNode[]): readonly Word[] {
  const asked = new Map(nodes.flatMap((node) => (node.kind === 'words' ? [[node.text, node] as const] : [])))
  const counted = [...asked.values()]
    .map((node) => ({ node, count: countHolders(db, wordPhrases(node.text, node.isPrefix)) }))
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => a.count - b.count)
  const most = counted.at(-1)?.count ?? 0
  return counted.slice(0, WORDS_MAX).map(({ node, count }) => ({ node, weight: Math.log1p(most / count) }))
}
