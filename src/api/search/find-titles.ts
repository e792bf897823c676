import type { Mirror } from '../../mirror/open.ts'
import type { Deadline } from './deadline.ts'
import { chatsWithMatch } from './matching-chats.ts'
import type { Branch } from './plan/branch.ts'
import type { QueryPlan } from './plan/plan.ts'
import { compileTests } from './plan/test-sql.ts'

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

interface Carried extends TitleCandidate {
  readonly key: number
  readonly place: number
}

/** The last 1,000 chats that match by their title or summary are looked at. */
export function findTitles(db: Mirror, plan: QueryPlan, deadline: Deadline): readonly TitleHit[] {
  const best = new Map<number, Carried>()
  for (const carried of plan.titleBranches.flatMap((branch) => carriedBy(db, branch))) {
    const before = best.get(carried.num)
    if (before === undefined) best.set(carried.num, carried)
    else {
      const isFirst = carried.place < before.place || (carried.place === before.place && carried.key < before.key)
      const { key, place } = isFirst ? carried : before
      best.set(carried.num, { ...before, key, place, rank: Math.min(before.rank, carried.rank) })
    }
  }
  const matching = chatsWithMatch(db, plan.branches, [...best.keys()], deadline)
  return [...best.values()].flatMap(({ num, key, title, summary, rank }) =>
    matching.has(num) ? [] : [{ key, score: -rank, title, summary }],
  )
}

function carriedBy(db: Mirror, branch: Branch): readonly Carried[] {
  const { low, high } = branch
  const ofChats = branch.chats === null ? '' : 'and c.num in (select value from json_each(@chats))'
  const candidates = db
    .prepare<[object], TitleCandidate>(`
      select c.num, c.title, c.summary, bm25(chat_terms, 1.0, 0.5) as rank
      from chat_terms cross join chats c on c.num = chat_terms.rowid
      where chat_terms match @match ${ofChats} and exists (select 1 from messages m where m.chat = c.num)
      order by chat_terms.rowid desc
      limit 1000
    `)
    .all({ match: branch.rankMatch, ...(branch.chats === null ? {} : { chats: JSON.stringify(branch.chats) }) })
  const tests = compileTests(branch, true)
  const selectRange = db.prepare<[object], { low: number | null; high: number | null }>(SELECT_KEY_RANGE)
  const selectCarrier = db.prepare<[object], { key: number; place: number }>(`
    select m.key, m.position as place from messages m
    where m.chat = @chat and m.is_orphan = 0 and m.key between @low and @high and ${tests.sql ?? '1'}
    order by m.position, m.key
    limit 1
  `)
  return candidates.flatMap((candidate) => {
    const range = selectRange.get({ chat: candidate.num, low, high })
    if (range === undefined || range.low === null || range.high === null) return []
    const bounds = { low: BigInt(range.low), high: BigInt(range.high) }
    const carrier = selectCarrier.get({ chat: candidate.num, ...tests.params, ...bounds })
    return carrier === undefined ? [] : [{ ...candidate, ...carrier }]
  })
}

/** Bounds so narrow that asking the index about one chat is a short look. */
const SELECT_KEY_RANGE = `
  select min(key) as low, max(key) as high from messages where chat = @chat and key between @low and @high
`
