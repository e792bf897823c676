import type { Mirror } from '../../../mirror/open.ts'
import { COUNTED_MAX, countMessages, isExclusion, newestMessages } from './count-messages.ts'
import type { Deadline } from '../deadline.ts'
import { filterNodes, type SearchRequest } from '../request.ts'
import { findTitles, titlesBeside } from '../titles/find-titles.ts'
import type { QueryNode } from '../language/tree.ts'
import { planQuery, type QueryPlan } from '../plan/plan.ts'

type Options = Pick<SearchRequest, 'filters' | 'clock'>

/** How many hits, including titles, another query would have, up to 1,000; 0 if it is empty or no time is left. */
export function countFound(db: Mirror, tree: QueryNode | null, options: Options, deadline: Deadline): number {
  const plan = planFor(db, tree, options, deadline)
  if (plan === null) return 0
  if (isExclusion(plan.branches)) {
    const { count } = countMessages(db, plan.branches, deadline)
    return Math.min(COUNTED_MAX, count + findTitles(db, plan, deadline).hits.length)
  }
  const newest = newestMessages(db, plan.branches, COUNTED_MAX, deadline)
  if (newest.keys.length === COUNTED_MAX) return COUNTED_MAX
  return Math.min(COUNTED_MAX, newest.keys.length + titlesBeside(db, plan, newest, null, deadline).hits.length)
}

/** Whether another query would find anything; false if it is empty or no time is left. */
export function findsAny(db: Mirror, tree: QueryNode | null, options: Options, deadline: Deadline): boolean {
  const plan = planFor(db, tree, options, deadline)
  if (plan === null) return false
  const newest = newestMessages(db, plan.branches, 1, deadline)
  return newest.keys.length > 0 || titlesBeside(db, plan, newest, null, deadline).hits.length > 0
}

function planFor(
  db: Mirror,
  tree: QueryNode | null,
  { filters, clock }: Options,
  deadline: Deadline,
): QueryPlan | null {
  const trees = [...filterNodes(filters), ...(tree === null ? [] : [tree])]
  return deadline.isPassed() || trees.length === 0 ? null : planQuery(db, trees, clock)
}
