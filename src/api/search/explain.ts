import type { SearchExplanation } from '../answers/search.ts'
import { expressionOf, type Condition } from './condition.ts'
import { LAST_KEY } from './fields.ts'
import { printQuery } from './parse.ts'
import type { Plan } from './plan.ts'
import type { QueryNode } from './query.ts'
import { RANKED_MAX, READ_MAX } from './rank.ts'
import type { SearchRequest } from './request.ts'
import { COUNTED_MAX } from './rows.ts'

export function explainSearch(
  plan: Plan,
  tree: QueryNode | null,
  filters: readonly QueryNode[],
  request: SearchRequest,
): SearchExplanation {
  const { match, low, high, rest, isPossible } = plan.messages
  const keys = low === 1n && high === LAST_KEY ? null : ([String(low), String(high)] as const)
  const { titles } = plan
  return {
    query: printQuery(tree),
    tree: tree === null ? [] : treeLines(tree, ''),
    filters: filters.map(printQuery),
    ways: isPossible ? [{ match, keys: keys === null ? null : [...keys], tests: rest.map(describe) }] : [],
    titles: titles.isPossible && titles.match !== null ? [titles.match] : [],
    steps: steps(plan, request),
  }
}

function treeLines(node: QueryNode, indent: string): readonly string[] {
  if (node.kind === 'not') return [`${indent}not`, ...treeLines(node.node, `${indent}  `)]
  if (node.kind !== 'and' && node.kind !== 'or') return [`${indent}${printQuery(node)}`]
  return [`${indent}${node.kind}`, ...node.nodes.flatMap((each) => treeLines(each, `${indent}  `))]
}

/** A condition in readable form. */
function describe(condition: Condition): string {
  const expression = expressionOf(condition)
  if (expression !== null) return `the index has ${expression}`
  switch (condition.kind) {
    case 'not':
      return `not (${describe(condition.of)})`
    case 'and':
    case 'or':
      return `(${condition.all.map(describe).join(` ${condition.kind} `)})`
    default:
      return 'says' in condition ? condition.says : condition.kind
  }
}

function steps({ messages, titles, words }: Plan, { sort, group, facets }: SearchRequest): readonly string[] {
  const order = sort === 'oldest' ? 'oldest' : 'newest'
  const walked = messages.match === null ? `messages${messages.isOfFewChats ? ' of the chats' : ''}` : 'index'
  return [
    ...(titles.isPossible ? ['search the titles of chats'] : []),
    ...(messages.isPossible ? [`walk the ${walked}, ${order} first`] : []),
    ...(messages.rest.length > 0 ? ['test each message'] : []),
    sort === 'relevance' && words.length > 0
      ? `rank the newest ${RANKED_MAX} and read the best ${READ_MAX} of them; older ones follow by time`
      : `list them ${order} first`,
    ...(group === 'chat' ? ['keep the best message of each chat'] : [`count them up to ${COUNTED_MAX}`]),
    ...(facets.length > 0 ? [`count by ${facets.join(', ')}`] : []),
  ]
}
