import { countWaiting } from '../../mirror/index/index-file.ts'
import type { Mirror } from '../../mirror/open.ts'
import { prepared } from '../../mirror/sql.ts'
import { filterNames } from '../../shared/filters.ts'
import { createMatcher } from '../../text/passages/matcher.ts'
import type { SearchAnswer, SearchExplanation } from '../answers/search.ts'
import { checkSpelling, suggestMeant, suggestRelaxed, warnOfCapped } from './hints.ts'
import { type Page, countFacets, findEveryHit, findPage, makeHits } from './page.ts'
import { parseQuery, printQuery } from './parse.ts'
import { type Plan, planQuery } from './plan.ts'
import { type QueryNode, type SearchRequest, filterNodes } from './query.ts'
import { createScorer } from './rank.ts'
import { relateChats } from './related.ts'
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

/** The body of the response, as JSON. It is made where the search runs, so that it crosses to another process as a text. */
export const searchBody = (db: Mirror, request: SearchRequest): string =>
  JSON.stringify({ ...search(db, request), limit: request.limit, offset: request.offset })

type Outcome = Omit<SearchAnswer, 'query' | 'tookMs'>

/**
 * Answers a search. Any `q` gets an answer; parts that were not understood are reported in `warnings`. It is synchronous and
 * ends when all is found: whoever cannot wait kills the process.
 * @param db a reader of the mirror. Everything is read in one snapshot
 */
export function search(db: Mirror, request: SearchRequest): SearchAnswer {
  const startedAtMs = performance.now()
  const { unread = null } = request
  const { backlog, ...outcome } = db.transaction(() => ({
    // First: it looks at both files. What changes in one of them between this and the first look at the other, is lost.
    backlog: countWaiting(db),
    ...answerQuery(db, request),
  }))()
  const lacking = [
    ...(backlog > 0 ? [`${backlog} older messages are still being indexed and were not searched.`] : []),
    ...(unread === null ? [] : [unread]),
  ]
  return {
    query: request.q,
    ...outcome,
    totalIsExact: outcome.totalIsExact && lacking.length === 0,
    tookMs: Math.round(performance.now() - startedAtMs),
    warnings: [...outcome.warnings, ...lacking],
  }
}

/** If this many chats match the whole query, related chats are not needed. */
const HOLDERS_ENOUGH = 10

function answerQuery(db: Mirror, request: SearchRequest): Outcome {
  const parsed = parseQuery(request.q)
  const asked = answerTree(db, parsed.tree, request)
  const { respelt, suggestions } =
    asked.total > 0 ? { respelt: null, suggestions: [] } : checkSpelling(db, parsed, request)
  const tree = respelt?.tree ?? parsed.tree
  const corrected = respelt?.hasHits === true ? answerTree(db, tree, request) : null
  const { newest, titles, ...answered } = corrected ?? asked
  const isFirst = request.sort === 'relevance' && request.offset === 0
  const isRelated = isFirst && titles + chatsOfMessages(db, newest, HOLDERS_ENOUGH).length < HOLDERS_ENOUGH
  const related = isRelated ? relateChats(db, { ...parsed, tree }, request, answered) : { chats: [], warnings: [] }
  // Each of them is a search of its own.
  const isHelped = answered.total + related.chats.length > 0
  const relaxed = isHelped ? { suggestions: [], warnings: [] } : suggestRelaxed(db, parsed.tree, request)
  const ofSpelling = respelt !== null && isHelped ? [respelt.warning] : []
  const meant = request.isLiteral === true ? [] : suggestMeant(db, parsed, request)
  const warnings = [parsed.warnings, asked.warnings, ofSpelling, related.warnings, answered.warnings, relaxed.warnings]
  const isEmpty = asksNothing(parsed.tree, request) && parsed.warnings.length === 0
  return {
    ...answered,
    related: related.chats,
    correctedQuery: corrected === null ? null : printQuery(tree),
    suggestions: [...suggestions, ...meant, ...relaxed.suggestions],
    warnings: isEmpty ? ['The query is empty: give a word or a filter.'] : [...new Set(warnings.flat())],
  }
}

/** That active chats are left out is no search. */
const asksNothing = (tree: QueryNode | null, { filters }: SearchRequest): boolean =>
  tree === null && filterNames.every((name) => filters[name] === undefined)

type Answered = Omit<Outcome, 'related' | 'correctedQuery' | 'suggestions'> & Pick<Page, 'newest' | 'titles'>

function answerTree(db: Mirror, given: QueryNode | null, request: SearchRequest): Answered {
  // No alternative of none matches.
  const tree: QueryNode | null = asksNothing(given, request) ? { kind: 'or', nodes: [] } : given
  const trees = [...filterNodes(request.filters), ...(tree === null ? [] : [tree])]
  const plan = planQuery(db, trees, request.clock)
  const counted = [...(request.group === 'chat' ? ['chat'] : []), ...request.facets]
  const every = counted.length > 0 ? findEveryHit(db, plan, counted) : null
  const isRanked = request.sort === 'relevance' && plan.words.length > 0
  const scorer = isRanked ? createScorer(plan.words, request.clock.nowMs) : null
  const { found, total, isExact, newest, titles } = findPage(db, plan, request, scorer, every)
  const { facets, warnings } = every === null ? { facets: {}, warnings: [] } : countFacets(db, tree, request, every)
  return {
    total,
    totalIsExact: isExact,
    items: [...makeHits(db, found, createMatcher(plan.phrases), request)],
    newest,
    titles,
    facets,
    warnings: [...plan.warnings, ...warnOfCapped(db, trees), ...warnings],
    ...(request.explain ? { plan: explainSearch(plan, tree) } : {}),
  }
}

function explainSearch({ messages }: Plan, tree: QueryNode | null): SearchExplanation {
  const wanted = { columns: 'message_terms.rowid', order: 'newest' } as const
  const asked = messages.isPossible ? askMessages(messages, wanted) : null
  return { query: printQuery(tree), statement: asked?.sql ?? null, values: asked?.values.map(String) ?? [] }
}
