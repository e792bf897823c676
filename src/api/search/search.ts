import { countWaiting } from '../../mirror/index/index-file.ts'
import type { Mirror } from '../../mirror/open.ts'
import { prepared } from '../../mirror/sql.ts'
import { createMatcher } from '../../text/passages/matcher.ts'
import type { SearchAnswer, SearchExplanation } from '../answers/search.ts'
import { countFacets, findEveryHit, type EveryHit } from './facets.ts'
import { makeHits, findGroups, findPage } from './page.ts'
import { suggestMeant, suggestRelaxed, warnOfCapped, checkSpelling } from './hints.ts'
import { parseQuery, printQuery, type ParsedQuery } from './parse.ts'
import { planQuery, type Plan } from './plan.ts'
import { type QueryNode, filterNodes, type SearchRequest } from './query.ts'
import { relateChats } from './related.ts'
import { filterNames } from '../../shared/filters.ts'
import { createScorer, type Scorer } from './rank.ts'
import { askMessages, chatsOfMessages } from './statement.ts'

const NEWEST_TITLES = `select title from chats where title <> '' order by last_activity_at desc limit 20`

/** Searches that load what later ones need: for the titles of the newest chats. */
export const warmSearches = (db: Mirror): readonly (() => void)[] =>
  prepared<string>(db, NEWEST_TITLES)
    .pluck()
    .all()
    .map((q) => () => {
      const clock = { timeZone: 'UTC', nowMs: Date.now() }
      const plain = { filters: {}, clock, sort: 'relevance', group: 'message', facets: [], explain: false } as const
      searchBody(db, { q, ...plain, limit: 20, offset: 0 })
    })

type Outcome = Omit<SearchAnswer, 'query' | 'tookMs'>

/** A search over HTTP. */
export interface SearchBodyRequest extends SearchRequest {
  /** What the mirror still lacks, as a sentence; null or missing if that is almost nothing. */
  readonly unread?: string | null
}

/** The body of the response, as JSON. It is made where the search runs, so that it crosses to another process as a text. */
export function searchBody(db: Mirror, { unread = null, ...request }: SearchBodyRequest): string {
  const answer = search(db, request)
  return JSON.stringify({
    ...answer,
    totalIsExact: answer.totalIsExact && unread === null,
    warnings: [...answer.warnings, ...(unread === null ? [] : [unread])],
    limit: request.limit,
    offset: request.offset,
  })
}

/**
 * Answers a search. Any `q` gets an answer; parts that were not understood are reported in `warnings`. It is synchronous and
 * ends when all is found: whoever cannot wait kills the process.
 * @param db a reader of the mirror. Everything is read in one snapshot
 */
export function search(db: Mirror, request: SearchRequest): SearchAnswer {
  const startedAtMs = performance.now()
  const { backlog, ...outcome } = db.transaction(() => ({
    // First: it looks at both files. What changes in one of them between this and the first look at the other, is lost.
    backlog: countWaiting(db),
    ...answerQuery(db, request),
  }))()
  return {
    query: request.q,
    ...outcome,
    totalIsExact: outcome.totalIsExact && backlog === 0,
    tookMs: Math.round(performance.now() - startedAtMs),
    warnings: [
      ...outcome.warnings,
      ...(backlog > 0 ? [`${backlog} older messages are still being indexed and were not searched.`] : []),
    ],
  }
}

function answerQuery(db: Mirror, request: SearchRequest): Outcome {
  const parsed = parseQuery(request.q)
  const asked = answerTree(db, parsed.tree, request)
  if (asked === null) return emptyOutcome(parsed, request)
  const { respelt, suggestions } =
    asked.total > 0 ? { respelt: null, suggestions: [] } : checkSpelling(db, parsed, request)
  const tree = respelt?.tree ?? parsed.tree
  const corrected = respelt?.hasHits === true ? answerTree(db, tree, request) : null
  const { countMatching, ...answered } = corrected ?? asked
  const isRelated = request.sort === 'relevance' && request.offset === 0 && countMatching() < HOLDERS_ENOUGH
  const related = isRelated ? relateChats(db, { ...parsed, tree }, request, answered) : { chats: [], warnings: [] }
  // Each of them is a search of its own.
  const isHelped = answered.total + related.chats.length > 0
  const relaxed = isHelped ? { suggestions: [], warnings: [] } : suggestRelaxed(db, parsed.tree, request)
  const ofSpelling = respelt !== null && isHelped ? [respelt.warning] : []
  const meant = request.isLiteral === true ? [] : suggestMeant(db, parsed, request)
  const warnings = [parsed.warnings, asked.warnings, ofSpelling, related.warnings, answered.warnings, relaxed.warnings]
  return {
    ...answered,
    related: related.chats,
    correctedQuery: corrected === null ? null : printQuery(tree),
    suggestions: [...suggestions, ...meant, ...relaxed.suggestions],
    warnings: [...new Set(warnings.flat())],
  }
}

/** If this many chats match the whole query, related chats are not needed. */
const HOLDERS_ENOUGH = 10

type Answered = Omit<Outcome, 'related' | 'correctedQuery' | 'suggestions'> & {
  /** How many chats match the whole query, up to ten. */
  readonly countMatching: () => number
}

/** Null if there is neither a query nor a filter. */
function answerTree(db: Mirror, tree: QueryNode | null, request: SearchRequest): Answered | null {
  const trees = [...filterNodes(request.filters), ...(tree === null ? [] : [tree])]
  // That active chats are left out is no search.
  if (tree === null && filterNames.every((name) => request.filters[name] === undefined)) return null
  const plan = planQuery(db, trees, request.clock)
  const isGrouped = request.group === 'chat'
  const isEvery = isGrouped || request.facets.length > 0
  const every = isEvery ? findEveryHit(db, plan, request.facets) : null
  const listed = isGrouped && every !== null ? listGroups(db, plan, request, every) : listMessages(db, plan, request)
  const { facets, warnings } = every === null ? { facets: {}, warnings: [] } : countFacets(db, tree, request, every)
  return {
    ...listed,
    facets,
    warnings: [...plan.warnings, ...warnOfCapped(db, trees), ...warnings],
    ...(request.explain ? { plan: explainSearch(plan, tree) } : {}),
  }
}

type Listed = Pick<Answered, 'total' | 'totalIsExact' | 'items' | 'countMatching'>

function listMessages(db: Mirror, plan: Plan, request: SearchRequest): Listed {
  const matcher = createMatcher(plan.phrases)
  const { found, total, isExact, newest, titles } = findPage(db, plan, request, scorerFor(plan, request))
  const countMatching = (): number => (total < HOLDERS_ENOUGH ? total : titles + countChats(db, newest))
  return { total, totalIsExact: isExact, items: makeHits(db, found, matcher, request), countMatching }
}

/** Counts up to ten. Usually the first few messages are enough. */
function countChats(db: Mirror, keys: readonly number[]): number {
  const few = chatsOfMessages(db, keys.slice(0, 8 * HOLDERS_ENOUGH)).length
  return few < HOLDERS_ENOUGH ? chatsOfMessages(db, keys).length : few
}

function listGroups(db: Mirror, plan: Plan, request: SearchRequest, every: EveryHit): Listed {
  const matcher = createMatcher(plan.phrases)
  const { page, total, isExact } = findGroups(db, plan, request, scorerFor(plan, request), every)
  const items = page.flatMap(({ best, ...counted }) =>
    makeHits(db, [best], matcher, request).map((hit) => ({ ...hit, ...counted })),
  )
  return { total, totalIsExact: isExact, items, countMatching: () => total }
}

/** Null if the order is by time. */
function scorerFor(plan: Plan, { sort, clock }: SearchRequest): Scorer | null {
  if (sort !== 'relevance' || plan.words.length === 0) return null
  return createScorer(plan.words, clock.nowMs)
}

function emptyOutcome(parsed: ParsedQuery, { facets, explain }: SearchRequest): Outcome {
  const warnings = parsed.warnings.length > 0 ? parsed.warnings : ['The query is empty: give a word or a filter.']
  return {
    total: 0,
    totalIsExact: true,
    items: [],
    related: [],
    facets: Object.fromEntries(facets.map((name) => [name, []])),
    correctedQuery: null,
    suggestions: [],
    warnings,
    ...(explain ? { plan: explainSearch(null, null) } : {}),
  }
}

/** @param plan null if nothing is searched */
function explainSearch(plan: Plan | null, tree: QueryNode | null): SearchExplanation {
  const wanted = { columns: 'message_terms.rowid', order: 'newest' } as const
  const asked = plan?.messages.isPossible === true ? askMessages(plan.messages, wanted) : null
  return { query: printQuery(tree), statement: asked?.sql ?? null, values: asked?.values.map(String) ?? [] }
}
