import { printQuery } from './language/print.ts'
import type { QueryNode } from './language/tree.ts'
import type { Branch } from './plan/branch.ts'
import type { QueryPlan } from './plan/plan.ts'
import { LAST_KEY } from './plan/resolve-field.ts'
import { describeTest } from './plan/branch-sql.ts'
import { RANKED_MAX, READ_MAX } from './match/rank.ts'
import { COUNTED_MAX } from './match/count-messages.ts'
import type { SearchRequest } from './request.ts'
import type { SearchExplanation } from '../answers/search.ts'

export function explainSearch(
  plan: QueryPlan,
  tree: QueryNode | null,
  filters: readonly QueryNode[],
  request: SearchRequest,
): SearchExplanation {
  return {
    query: printQuery(tree),
    tree: tree === null ? [] : treeLines(tree, ''),
    filters: filters.map(printQuery),
    ways: plan.branches.map((branch) => ({
      match: branch.match,
      exclude: branch.exclude,
      keys: branch.low === 1n && branch.high === LAST_KEY ? null : [String(branch.low), String(branch.high)],
      chats: branch.chats?.length ?? null,
      tests: branch.tests.map(describeTest),
    })),
    titles: plan.titleBranches.flatMap(({ match }) => match ?? []),
    steps: steps(plan, request),
  }
}

function treeLines(node: QueryNode, indent: string): readonly string[] {
  if (node.kind === 'not') return [`${indent}not`, ...treeLines(node.node, `${indent}  `)]
  if (node.kind !== 'and' && node.kind !== 'or') return [`${indent}${printQuery(node)}`]
  return [`${indent}${node.kind}`, ...node.nodes.flatMap((each) => treeLines(each, `${indent}  `))]
}

function steps(plan: QueryPlan, { sort, group, facets }: SearchRequest): readonly string[] {
  const order = sort === 'oldest' ? 'oldest' : 'newest'
  const isRanked = sort === 'relevance' && plan.hasWords
  return [
    ...(plan.titleBranches.length > 0 ? ['search the titles of chats'] : []),
    ...plan.branches.map((branch) => walkStep(branch, order)),
    ...(plan.branches.length > 1 ? ['merge the walks, each message once'] : []),
    isRanked
      ? `rank the newest ${RANKED_MAX} and read the best ${READ_MAX} of them; older ones follow by time`
      : `list them ${order} first`,
    ...(group === 'chat' ? ['keep the best message of each chat'] : [`count them up to ${COUNTED_MAX}`]),
    ...(facets.length > 0 ? [`count by ${facets.join(', ')}`] : []),
  ]
}

function walkStep(branch: Branch, order: string): string {
  const tests = branch.tests.length > 0 || branch.chats !== null ? ', look up each message' : ''
  if (branch.match !== null) return `walk the index, ${order} first${tests}`
  const besides = branch.exclude === null ? '' : ', skip excluded ones by the index'
  return `walk the messages${branch.chats === null ? '' : ' of the chats'}, ${order} first${besides}`
}
