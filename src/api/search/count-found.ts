import type { Mirror } from '../../mirror/open.ts'
import { countMessages } from './count-messages.ts'
import type { Deadline } from './deadline.ts'
import { filterNodes } from './filter-nodes.ts'
import { findTitles } from './find-titles.ts'
import type { QueryNode } from './language/tree.ts'
import { planQuery } from './plan/plan.ts'
import type { SearchRequest } from './request.ts'

/** How much another query would find, titles among it; 0 where nothing is asked or no time is left. */
export function countFound(
  db: Mirror,
  tree: QueryNode | null,
  { filters, clock }: Pick<SearchRequest, 'filters' | 'clock'>,
  deadline: Deadline,
): number {
  const trees = [...filterNodes(filters), ...(tree === null ? [] : [tree])]
  if (deadline.isPassed() || trees.length === 0) return 0
  const plan = planQuery(db, trees, clock)
  return countMessages(db, plan.branches, deadline).count + findTitles(db, plan, deadline).length
}
