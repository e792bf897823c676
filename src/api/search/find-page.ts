import type { Mirror } from '../../mirror/open.ts'
import {
  COUNTED_MAX,
  countMessages,
  isExclusion,
  newestMessages,
  type Count,
  type Newest,
} from './match/count-messages.ts'
import type { Deadline } from './deadline.ts'
import { titlesBeside, type TitleHit, type TitleHits } from './titles/find-titles.ts'
import type { Found } from './hit.ts'
import type { QueryPlan } from './plan/plan.ts'
import { rankMatches } from './match/rank.ts'
import type { SearchRequest } from './request.ts'
import type { Scorer } from './score/scorer.ts'
import type { TitleCandidate } from './titles/title-candidates.ts'
import type { TimeOrder } from './match/steps.ts'
import { walkMessages } from './match/walk.ts'

/** What stands on one page of the answer: messages and title hits in one order. */
export interface Page {
  readonly found: readonly Found[]
  readonly total: number
  readonly isExact: boolean
  /** Keys of the newest messages found, as far as they are known, and how many titles stand beside them. */
  readonly newest: readonly number[]
  readonly titles: number
}

type Asked = Pick<SearchRequest, 'sort' | 'limit' | 'offset'>

/** @param scorer null where nothing is to be ranked */
export function findPage(db: Mirror, plan: QueryPlan, asked: Asked, scorer: Scorer | null, deadline: Deadline): Page {
  return scorer === null
    ? pageByTime(db, plan, asked, asked.sort === 'oldest' ? 'oldest' : 'newest', deadline)
    : pageByRank(db, plan, asked, scorer, deadline)
}

const foundMessage = (key: number, score = 0): Found => ({ key, score, titled: null })

const foundTitle = ({ key, title, summary }: TitleHit, score = 0): Found => ({
  key,
  score,
  titled: { title, summary },
})

function pageByTime(db: Mirror, plan: QueryPlan, asked: Asked, order: TimeOrder, deadline: Deadline): Page {
  const end = asked.offset + asked.limit
  const isDown = order === 'newest'
  const isCounted = isExclusion(plan.branches)
  const newest = newestMessages(db, plan.branches, Math.max(isCounted ? 0 : COUNTED_MAX, isDown ? end : 0), deadline)
  const keys = isDown || newest.isWhole ? inOrder(newest.keys, order) : firstKeys(db, plan, order, end, deadline)
  const edge = keys[end - 1] ?? (isDown ? 0 : Infinity)
  const titles = titlesBeside(db, plan, newest, { by: order, edge }, deadline)
  const sign = isDown ? -1 : 1
  const listed = [...keys.slice(0, end).map((key) => foundMessage(key)), ...titles.hits.map((hit) => foundTitle(hit))]
  const count =
    isCounted && !newest.isWhole
      ? countMessages(db, plan.branches, deadline)
      : { count: newest.keys.length, isExact: newest.isWhole }
  const sorted = listed.sort((a, b) => sign * (a.key - b.key))
  return pageOf(sorted, titles, count, asked, newest)
}

const inOrder = (keys: readonly number[], order: TimeOrder): readonly number[] =>
  order === 'newest' ? keys : keys.toReversed()

function firstKeys(db: Mirror, plan: QueryPlan, order: TimeOrder, rows: number, deadline: Deadline): readonly number[] {
  const keys: number[] = []
  for (const key of walkMessages(db, plan.branches, order, deadline, rows)) {
    keys.push(key)
    if (keys.length >= rows) break
  }
  return keys
}

function pageByRank(db: Mirror, plan: QueryPlan, asked: Asked, scorer: Scorer, deadline: Deadline): Page {
  const end = asked.offset + asked.limit
  const ranking = rankMatches(db, plan.branches, scorer, deadline)
  const newest = { keys: ranking.newest, isWhole: ranking.isWhole }
  const scoreOf = ({ title, summary }: Pick<TitleCandidate, 'title' | 'summary'>): number =>
    scorer.scoreTitle(Infinity, title, summary)
  const edge = ranking.messages[end - 1]?.score ?? 0
  const titles = titlesBeside(db, plan, newest, { by: 'score', edge, scoreOf }, deadline)
  const best = [
    ...ranking.messages.map(({ key, score }) => foundMessage(key, score)),
    ...titles.hits.map((hit) => foundTitle(hit, scorer.scoreTitle(hit.key, hit.title, hit.summary))),
  ].sort((a, b) => b.score - a.score || b.key - a.key)
  const older = best.length < end && !ranking.isWhole ? olderMessages(db, plan, best, end, deadline) : []
  const count = { count: ranking.newest.length, isExact: ranking.isWhole }
  return pageOf([...best, ...older], titles, count, asked, newest)
}

/** Only the newest matches are ranked: what is left follows by time. */
function olderMessages(
  db: Mirror,
  plan: QueryPlan,
  ranked: readonly Found[],
  end: number,
  deadline: Deadline,
): readonly Found[] {
  const known = new Set(ranked.filter(({ titled }) => titled === null).map(({ key }) => key))
  const { keys } = newestMessages(db, plan.branches, end + known.size, deadline)
  return keys.filter((key) => !known.has(key)).map((key) => foundMessage(key))
}

function pageOf(
  listed: readonly Found[],
  titles: TitleHits,
  messages: Count,
  { offset, limit }: Asked,
  newest: Newest,
): Page {
  const found = listed.slice(offset, offset + limit)
  const count = messages.count + titles.hits.length
  const isExact = messages.isExact && titles.isWhole && count <= COUNTED_MAX
  return {
    found,
    total: Math.max(Math.min(COUNTED_MAX, count), found.length === 0 ? 0 : offset + found.length),
    isExact,
    newest: newest.keys,
    titles: titles.hits.length,
  }
}
