import { countBacklog } from '../../mirror/backlog.ts'
import type { Mirror } from '../../mirror/open.ts'
import { createMatcher } from '../../text/matcher.ts'
import { countMessages } from './count-messages.ts'
import { createDeadline, type Deadline } from './deadline.ts'
import { findPage } from './find-page.ts'
import { findTitles } from './find-titles.ts'
import { makeHits } from './hit.ts'
import { parseQuery, type ParsedQuery } from './parse.ts'
import { planQuery } from './plan.ts'
import type { SearchAnswer, SearchRequest } from './request.ts'
import { hasFilter, resolveScope } from './scope.ts'
import { suggestRelaxed } from './suggest-relaxed.ts'

type Outcome = Pick<SearchAnswer, 'total' | 'totalIsExact' | 'items' | 'suggestions' | 'warnings'>

/**
 * Answers a search. Total in `q`: whatever it holds, there is an answer, and what was not understood stands in
 * `warnings`. Synchronous; past `deadlineMs` it answers with what it has.
 * @param db a reader of the mirror; all is read in one snapshot
 */
export function search(db: Mirror, request: SearchRequest): SearchAnswer {
  const startedAtMs = performance.now()
  const deadline = createDeadline(request.deadlineMs)
  const { backlog, ...outcome } = db.transaction(() => ({
    ...answerQuery(db, request, deadline),
    backlog: countBacklog(db),
  }))()
  // The clock is not looked at again: a deadline that passed behind the last look cut nothing short.
  const isPartial = deadline.hasPassed()
  return {
    query: request.q,
    ...outcome,
    totalIsExact: outcome.totalIsExact && !isPartial && backlog === 0,
    tookMs: Math.round(performance.now() - startedAtMs),
    facets: {},
    warnings: [
      ...outcome.warnings,
      ...(backlog > 0 ? [`${backlog} older messages were not searched: they are still being indexed.`] : []),
      ...(isPartial ? ['The search ran out of time: there may be more than is shown.'] : []),
    ],
    isPartial,
  }
}

function answerQuery(db: Mirror, request: SearchRequest, deadline: Deadline): Outcome {
  const parsed = parseQuery(request.q)
  if (parsed.clauses.length === 0 && !hasFilter(request)) return emptyOutcome(parsed)
  const plan = planQuery(parsed.clauses)
  const scope = resolveScope(db, request)
  const titles = findTitles(db, plan, scope, deadline)
  const page = findPage(db, plan, scope, titles, request, deadline)
  const messages =
    page.messageCount === null ? countMessages(db, plan, scope, deadline) : { count: page.messageCount, isExact: true }
  const shown = page.found.length === 0 ? 0 : request.offset + page.found.length
  const total = Math.max(messages.count + titles.length, shown)
  const relaxed = total === 0 ? suggestRelaxed(db, parsed.clauses, request, deadline) : null
  return {
    total,
    totalIsExact: messages.isExact,
    items: makeHits(db, page.found, createMatcher(plan.phrases)),
    suggestions: relaxed?.suggestions ?? [],
    warnings: [...parsed.warnings, ...(relaxed?.warnings ?? [])],
  }
}

function emptyOutcome(parsed: ParsedQuery): Outcome {
  const warnings = parsed.warnings.length > 0 ? parsed.warnings : ['Nothing was asked for: give a word or a filter.']
  return { total: 0, totalIsExact: true, items: [], suggestions: [], warnings }
}
