import type { Mirror } from '../../mirror/open.ts'
import type { Deadline } from './deadline.ts'
import type { TitleHit } from './find-titles.ts'
import type { Found } from './hit.ts'
import type { QueryPlan } from './plan/plan.ts'
import { RANKED_MAX, rankMatches } from './rank.ts'
import type { SearchRequest, SearchSort } from './request.ts'
import { walkMessages } from './walk.ts'

/** What stands on one page of the answer: messages and title hits in one order. */
export interface Page {
  readonly found: readonly Found[]
  /** How many messages there are at all, where finding the page told; title hits aside. */
  readonly messageCount: number | null
}

export function findPage(
  db: Mirror,
  plan: QueryPlan,
  titles: readonly TitleHit[],
  request: Pick<SearchRequest, 'sort' | 'limit' | 'offset'>,
  deadline: Deadline,
): Page {
  const { sort, offset } = request
  const end = offset + request.limit
  const isRanked = sort === 'relevance' && plan.hasWords
  const wanted = isRanked ? Math.max(RANKED_MAX, end) : end
  const messages = findMessages(db, plan, sort, wanted, deadline)
  const isWhole = messages.length < wanted && !deadline.hasPassed()
  const titled = titles.map((hit) => foundTitle(hit, isRanked))
  const listed = isRanked ? mergeByRank(messages, titled) : mergeByTime(messages, titled, sort)
  return { found: listed.slice(offset, end), messageCount: isWhole ? messages.length : null }
}

export const foundTitle = (hit: TitleHit, isRanked: boolean): Found => ({
  key: hit.key,
  score: isRanked ? hit.score : 0,
  titled: { title: hit.title, summary: hit.summary },
})

/** The first messages by time, newest first where they are ranked. @param rows at most so many */
export function findMessages(
  db: Mirror,
  plan: QueryPlan,
  sort: SearchSort,
  rows: number,
  deadline: Deadline,
): readonly Found[] {
  if (rows <= 0) return []
  if (sort === 'relevance' && plan.hasWords) {
    return rankMatches(db, plan.branches, rows, deadline).map((message) => ({ ...message, titled: null }))
  }
  const found: Found[] = []
  for (const key of walkMessages(db, plan.branches, sort === 'oldest' ? 'oldest' : 'newest', deadline)) {
    found.push({ key, score: 0, titled: null })
    if (found.length >= rows) break
  }
  return found
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
