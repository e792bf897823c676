import type { Mirror } from '../../mirror/open.ts'
import type { Deadline } from './deadline.ts'
import { chatsWithMatch } from './matching-chats.ts'
import type { QueryPlan } from './plan.ts'
import type { Scope } from './scope.ts'

/** A chat found by its title or summary, none of whose messages matches. */
export interface TitleHit {
  /** Key of the message that carries the hit: the first of the thread that passes the filters. */
  readonly key: number
  readonly score: number
  readonly title: string
  readonly summary: string | null
}

interface TitleCandidate {
  readonly num: number
  readonly title: string
  readonly summary: string | null
  readonly rank: number
}

const SELECT_CANDIDATES = `
  select c.num, c.title, c.summary, bm25(chat_terms, 1.0, 0.5) as rank
  from chat_terms cross join chats c on c.num = chat_terms.rowid
  where chat_terms match @match
    and (@chats is null or c.num in (select value from json_each(@chats)))
    and exists (select 1 from messages m where m.chat = c.num)
  order by chat_terms.rowid desc
  limit 1000
`

const SELECT_CARRIER = `
  select m.key from messages m
  where m.chat = @chat and m.is_orphan = 0 and m.key between @low and @high
    and (@roles is null or m.role in (select value from json_each(@roles)))
  order by m.position, m.key
  limit 1
`

/** The last 1,000 chats that match by their title or summary are looked at. */
export function findTitles(db: Mirror, plan: QueryPlan, scope: Scope, deadline: Deadline): readonly TitleHit[] {
  if (plan.match === null) return []
  const candidates = db
    .prepare<[object], TitleCandidate>(SELECT_CANDIDATES)
    .all({ match: plan.rankMatch ?? plan.match, chats: scope.chats })
  if (candidates.length === 0) return []
  const nums = candidates.map((candidate) => candidate.num)
  const matching = chatsWithMatch(db, plan, scope, nums, deadline)
  const selectCarrier = db.prepare<[object], number>(SELECT_CARRIER).pluck()
  return candidates.flatMap(({ num, title, summary, rank }) => {
    const key = matching.has(num) ? undefined : selectCarrier.get({ chat: num, ...scope })
    return key === undefined ? [] : [{ key, score: -rank, title, summary }]
  })
}
