import type { Mirror } from '../../mirror/open.ts'
import type { Deadline } from './deadline.ts'
import { findMatches } from './find-matches.ts'
import type { TitleHit } from './find-titles.ts'
import { findUnmatched } from './find-unmatched.ts'
import type { Found } from './hit.ts'
import type { QueryPlan } from './plan.ts'
import { RANKED_MAX, rankMatches } from './rank.ts'
import type { SearchRequest, SearchSort } from './request.ts'
import type { Scope } from './scope.ts'

/** What stands on one page of the answer: messages and title hits in one order. */
export interface Page {
  readonly found: readonly Found[]
  /** How many messages there are at all, where finding the page told; title hits aside. */
  readonly messageCount: number | null
}

export function findPage(
  db: Mirror,
  plan: QueryPlan,
  scope: Scope,
  titles: readonly TitleHit[],
  request: Pick<SearchRequest, 'sort' | 'limit' | 'offset'>,
  deadline: Deadline,
): Page {
  const { sort, offset } = request
  const end = offset + request.limit
  const isRanked = sort === 'relevance' && plan.rankMatch !== null
  const wanted = isRanked ? Math.max(RANKED_MAX, end) : end
  const messages = findMessages(db, plan, scope, sort, wanted, deadline)
  const isWhole = messages.length < wanted && !deadline.hasPassed()
  const titled = titles.map((hit): Found => ({
    key: hit.key,
    score: isRanked ? hit.score : 0,
    titled: { title: hit.title, summary: hit.summary },
  }))
  const listed = isRanked ? mergeByRank(messages, titled) : mergeByTime(messages, titled, sort)
  return { found: listed.slice(offset, end), messageCount: isWhole ? messages.length : null }
}

function findMessages(
  db: Mirror,
  plan: QueryPlan,
  scope: Scope,
  sort: SearchSort,
  rows: number,
  deadline: Deadline,
): readonly Found[] {
  if (sort === 'relevance' && plan.rankMatch !== null) {
    return rankMatches(db, plan.rankMatch, scope, rows, deadline).map((message) => ({ ...message, titled: null }))
  }
  const order = sort === 'oldest' ? 'oldest' : 'newest'
  const keys =
    plan.match === null
      ? findUnmatched(db, plan.exclude, scope, order, rows, deadline)
      : findMatches(db, plan.match, scope, order, rows, deadline)
  return keys.map((key) => ({ key, score: 0, titled: null }))
}

/** Only the newest matches are ranked: those behind them follow by time. */
function mergeByRank(messages: readonly Found[], titled: readonly Found[]): readonly Found[] {
  const best = [...messages.slice(0, RANKED_MAX), ...titled].sort((a, b) => b.score - a.score || b.key - a.key)
  return [...best, ...messages.slice(RANKED_MAX)]
}

function mergeByTime(messages: readonly Found[], titled: readonly Found[], sort: SearchSort): readonly Found[] {
  const sign = sort === 'oldest' ? 1 : -1
  return [...messages, ...titled].sort((a, b) => sign * (a.key - b.key))
}
