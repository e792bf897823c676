import type { Mirror } from '../../mirror/open.ts'
import { countMessages } from './count-messages.ts'
import type { Deadline } from './deadline.ts'
import { findTitles } from './find-titles.ts'
import type { Clause } from './parse.ts'
import { planQuery } from './plan.ts'
import type { SearchSuggestion } from './request.ts'
import { hasFilter, resolveScope, type Filters } from './scope.ts'

export interface Relaxed {
  readonly suggestions: readonly SearchSuggestion[]
  readonly warnings: readonly string[]
}

/** For a search that found nothing: which one filter or word, left out, would have found something. */
export function suggestRelaxed(db: Mirror, clauses: readonly Clause[], filters: Filters, deadline: Deadline): Relaxed {
  const suggestions: SearchSuggestion[] = []
  for (const { name, relaxed } of relaxFilters(filters)) {
    const count = countFound(db, clauses, relaxed, deadline)
    if (count > 0) suggestions.push({ text: name, reason: 'without-filter', count })
  }
  for (const clause of clauses) {
    const others = clauses.filter((other) => other !== clause)
    const count = others.length === 0 ? 0 : countFound(db, others, filters, deadline)
    const text = others.map((other) => other.source).join(' ')
    if (count > 0) suggestions.push({ text, reason: 'without-word', count })
  }
  return { suggestions, warnings: warnOfSingleWord(db, clauses, filters, suggestions, deadline) }
}

function relaxFilters(filters: Filters): readonly { readonly name: string; readonly relaxed: Filters }[] {
  const { projectNums, roles, chatIds, fromMs, toMs } = filters
  const dates = [fromMs === null ? [] : ['from'], toMs === null ? [] : ['to']].flat().join(' ')
  return [
    ...(projectNums === null ? [] : [{ name: 'project', relaxed: { ...filters, projectNums: null } }]),
    ...(roles === null ? [] : [{ name: 'role', relaxed: { ...filters, roles: null } }]),
    ...(chatIds === null ? [] : [{ name: 'chat', relaxed: { ...filters, chatIds: null } }]),
    ...(dates === '' ? [] : [{ name: dates, relaxed: { ...filters, fromMs: null, toMs: null } }]),
  ]
}

function countFound(db: Mirror, clauses: readonly Clause[], filters: Filters, deadline: Deadline): number {
  if (deadline.isPassed()) return 0
  const plan = planQuery(clauses)
  const scope = resolveScope(db, filters)
  return countMessages(db, plan, scope, deadline).count + findTitles(db, plan, scope, deadline).length
}

/** Leaving out the only word leaves no query to suggest. */
function warnOfSingleWord(
  db: Mirror,
  clauses: readonly Clause[],
  filters: Filters,
  suggestions: readonly SearchSuggestion[],
  deadline: Deadline,
): readonly string[] {
  if (suggestions.length > 0 || clauses.length !== 1 || !hasFilter(filters)) return []
  const count = countFound(db, [], filters, deadline)
  return count === 0 ? [] : [`Nothing matches the query; without it, the filters leave ${count} messages.`]
}
