import { countWaiting } from '../../mirror/index/index-file.ts'
import type { Mirror } from '../../mirror/open.ts'
import { createMatcher } from '../../text/passages/matcher.ts'
import { countFacets } from './count-facets.ts'
import { createDeadline, type Deadline } from './deadline.ts'
import { findEveryHit, type EveryHit } from './every-hit.ts'
import { explainSearch } from './explain.ts'
import { filterNames, filterNodes, type SearchRequest } from './request.ts'
import { findGroups, findPage } from './find-page.ts'
import { makeHits } from './hit.ts'
import { parseQuery, type ParsedQuery } from './language/parse.ts'
import { chatsOfMessages } from './match/matching-chats.ts'
import { planQuery, type QueryPlan } from './plan/plan.ts'
import type { QueryNode } from './language/tree.ts'
import { relateChats } from './related/find-related.ts'
import { createScorer, type Scorer, askWords } from './scorer.ts'
import { checkSpelling } from './spelling/check-spelling.ts'
import { suggestRelaxed } from './help/suggest-relaxed.ts'
import { warnOfCapped } from './help/warn-of-capped.ts'
import type { SearchAnswer } from '../answers/search.ts'

type Outcome = Pick<
  SearchAnswer,
  | 'total'
  | 'totalIsExact'
  | 'items'
  | 'related'
  | 'facets'
  | 'correctedQuery'
  | 'suggestions'
  | 'warnings'
  | 'plan'
  | 'isPartial'
>

/**
 * Answers a search. Any `q` gets an answer; parts that were not understood are reported in `warnings`. It is
 * synchronous. After `deadlineMs` it answers with what it has.
 * @param db a reader of the mirror. Everything is read in one snapshot
 */
export function search(db: Mirror, request: SearchRequest): SearchAnswer {
  const startedAtMs = performance.now()
  const deadline = createDeadline(request.deadlineMs)
  const { backlog, isPartial, ...outcome } = db.transaction(() => ({
    // First: it looks at both files. What changes in one of them between this and the first look at the other, is lost.
    backlog: countWaiting(db),
    ...answerQuery(db, request, deadline),
  }))()
  const isHelpCut = outcome.total === 0 && !isPartial && deadline.hasPassed()
  return {
    query: request.q,
    ...outcome,
    totalIsExact: outcome.totalIsExact && !isPartial && backlog === 0,
    tookMs: Math.round(performance.now() - startedAtMs),
    warnings: [
      ...outcome.warnings,
      ...(backlog > 0 ? [`${backlog} older messages are still being indexed and were not searched.`] : []),
      ...(isPartial ? ['The search ran out of time: there may be more hits.'] : []),
      ...(isHelpCut ? ['There was no time left to look for suggestions.'] : []),
    ],
    isPartial,
  }
}

function answerQuery(db: Mirror, request: SearchRequest, deadline: Deadline): Outcome {
  const parsed = parseQuery(request.q)
  const asked = answerTree(db, parsed.tree, request, deadline)
  if (asked === null) return emptyOutcome(parsed, request)
  // `hasPassed` does not check the clock again: a deadline that passed after the last check ended nothing early.
  const isAskedPartial = deadline.hasPassed()
  const spelling = checkSpelling(db, parsed.tree, request, asked.total, deadline)
  const shown = spelling.corrected === null ? null : answerTree(db, spelling.corrected.tree, request, deadline)
  const isEmpty = asked.total === 0 && shown === null
  const { countHolders, ...answered } = shown ?? asked
  const tree = spelling.corrected?.tree ?? spelling.closest?.tree ?? parsed.tree
  const related =
    wantsRelated(request, countHolders) && !deadline.hasPassed()
      ? relateChats(db, { ...parsed, tree }, request, answered, deadline)
      : null
  const relaxed = isEmpty ? suggestRelaxed(db, parsed.tree, request, deadline) : null
  const isRespelt = related !== null && related.chats.length > 0 && spelling.closest !== null
  const ofSpelling = isRespelt ? [spelling.closest.warning] : spelling.warnings
  const warnings = [...parsed.warnings, ...asked.warnings, ...ofSpelling, ...(related?.warnings ?? [])]
  return {
    ...answered,
    related: related?.chats ?? [],
    // If only the suggestions run out of time, the answer itself is still complete.
    isPartial: shown === null ? isAskedPartial : deadline.hasPassed(),
    correctedQuery: spelling.corrected?.suggestion.text ?? null,
    suggestions: [...spelling.suggestions, ...(relaxed?.suggestions ?? [])],
    warnings: [...new Set([...warnings, ...(shown?.warnings ?? []), ...(relaxed?.warnings ?? [])])],
  }
}

/** If this many chats match the whole query, related chats are not needed. */
const HOLDERS_ENOUGH = 10

const wantsRelated = ({ sort, offset }: SearchRequest, countHolders: () => number): boolean =>
  sort === 'relevance' && offset === 0 && countHolders() < HOLDERS_ENOUGH

/** Null if there is neither a query nor a filter. */
function answerTree(
  db: Mirror,
  tree: QueryNode | null,
  request: SearchRequest,
  deadline: Deadline,
): (Omit<Outcome, 'related' | 'correctedQuery' | 'suggestions' | 'isPartial'> & Pick<Listed, 'countHolders'>) | null {
  const filters = filterNodes(request.filters)
  const trees = [...filters, ...(tree === null ? [] : [tree])]
  if (tree === null && filterNames.every((name) => request.filters[name] === undefined)) return null
  const plan = planQuery(db, trees, request.clock)
  const every = findEveryHit(db, plan, request.facets, deadline)
  const { total, totalIsExact, items, countHolders } =
    request.group === 'chat'
      ? listGroups(db, plan, request, every, deadline)
      : listMessages(db, plan, request, deadline)
  const { facets, warnings } = countFacets(db, trees, request, every, deadline)
  return {
    total,
    totalIsExact,
    items,
    countHolders,
    facets,
    warnings: [...plan.warnings, ...warnOfCapped(db, trees), ...warnings],
    ...(request.explain ? { plan: explainSearch(plan, tree, filters, request) } : {}),
  }
}

interface Listed extends Pick<Outcome, 'total' | 'totalIsExact' | 'items'> {
  /** How many chats match the whole query, up to ten. */
  readonly countHolders: () => number
}

function listMessages(db: Mirror, plan: QueryPlan, request: SearchRequest, deadline: Deadline): Listed {
  const matcher = createMatcher(plan.phrases)
  const { found, total, isExact, newest, titles } = findPage(db, plan, request, scorerFor(plan, request), deadline)
  const countHolders = (): number => (total < HOLDERS_ENOUGH ? total : titles + countChats(db, newest))
  return { total, totalIsExact: isExact, items: makeHits(db, found, matcher, request), countHolders }
}

/** Counts up to ten. Usually the first few messages are enough. */
function countChats(db: Mirror, keys: readonly number[]): number {
  const chats = new Set<number>()
  for (let from = 0, to = 2 * HOLDERS_ENOUGH; from < keys.length && chats.size < HOLDERS_ENOUGH; from = to, to *= 4) {
    for (const chat of chatsOfMessages(db, keys.slice(from, to))) chats.add(chat)
  }
  return chats.size
}

function listGroups(
  db: Mirror,
  plan: QueryPlan,
  request: SearchRequest,
  every: () => EveryHit,
  deadline: Deadline,
): Listed {
  const matcher = createMatcher(plan.phrases)
  const { page, total, isExact } = findGroups(db, plan, request, scorerFor(plan, request), every(), deadline)
  const items = page.flatMap(({ best, ...counted }) =>
    makeHits(db, [best], matcher, request).map((hit) => ({ ...hit, ...counted })),
  )
  return { total, totalIsExact: isExact, items, countHolders: () => total }
}

/** Null if the order is by time. */
function scorerFor(plan: QueryPlan, { sort, clock }: SearchRequest): Scorer | null {
  if (sort !== 'relevance' || !plan.hasWords) return null
  return createScorer(askWords(plan.words), clock.nowMs)
}

function emptyOutcome(parsed: ParsedQuery, { facets, explain }: SearchRequest): Outcome {
  const warnings = parsed.warnings.length > 0 ? parsed.warnings : ['The query is empty: give a word or a filter.']
  const none = { query: '', tree: [], filters: [], ways: [], titles: [], steps: ['answer that the query is empty'] }
  return {
    total: 0,
    totalIsExact: true,
    items: [],
    related: [],
    facets: Object.fromEntries(facets.map((name) => [name, []])),
    isPartial: false,
    correctedQuery: null,
    suggestions: [],
    warnings,
    ...(explain ? { plan: none } : {}),
  }
}
