import type { Mirror } from '../../mirror/open.ts'
import type { Deadline } from './deadline.ts'
import type { QueryPlan } from './plan.ts'
import type { Scope } from './scope.ts'

export interface Count {
  readonly count: number
  readonly isExact: boolean
}

/** Counting stops behind this many. */
const COUNTED_MAX = 100_000
const FIRST_STEP_ROWS = 4096

/** How many messages a plan finds under the filters, titles aside. */
export function countMessages(db: Mirror, plan: QueryPlan, scope: Scope, deadline: Deadline): Count {
  const found =
    plan.match === null ? countUnmatched(db, plan, scope, deadline) : countMatches(db, plan.match, scope, deadline)
  return found.count > COUNTED_MAX ? { count: COUNTED_MAX, isExact: false } : found
}

const COUNT_ALL_STEP = `
  select count(*) as scanned, min(key) as lowest, count(*) as passing
  from (
    select rowid as key from message_terms
    where message_terms match @match and rowid between @low and @high order by rowid desc limit @rows
  )
`
const COUNT_PASSING_STEP = `
  select count(*) as scanned, min(f.key) as lowest,
    total(
      (@chats is null or m.chat in (select value from json_each(@chats)))
      and (@roles is null or m.role in (select value from json_each(@roles)))
    ) as passing
  from (
    select rowid as key from message_terms
    where message_terms match @match and rowid between @low and @high order by rowid desc limit @rows
  ) f cross join messages m on m.key = f.key
`

/** In steps that grow, as SQLite cannot be interrupted, and each step of a prefix query starts anew. */
function countMatches(db: Mirror, match: string, scope: Scope, deadline: Deadline): Count {
  const isFiltered = scope.chats !== null || scope.roles !== null
  const statement = db.prepare<[object], { scanned: number; lowest: number | null; passing: number }>(
    isFiltered ? COUNT_PASSING_STEP : COUNT_ALL_STEP,
  )
  let count = 0
  let high = scope.high
  for (let rows = FIRST_STEP_ROWS; ; rows *= 4) {
    const step = statement.get({ match, ...scope, high, rows })
    count += step?.passing ?? 0
    if (step === undefined || step.lowest === null || step.scanned < rows) return { count, isExact: true }
    if (count > COUNTED_MAX || deadline.isPassed()) return { count, isExact: false }
    high = BigInt(step.lowest) - 1n
  }
}

const COUNT_MESSAGES = `
  select count(*) from messages m
  where m.key between @low and @high and m.is_shadowed = 0
    and (@roles is null or m.role in (select value from json_each(@roles)))
`
const COUNT_MESSAGES_OF_CHATS = `
  select count(*) from json_each(@chats) c cross join messages m on m.chat = c.value
  where m.key between @low and @high and m.is_shadowed = 0
    and (@roles is null or m.role in (select value from json_each(@roles)))
`

function countUnmatched(db: Mirror, plan: QueryPlan, scope: Scope, deadline: Deadline): Count {
  const sql = scope.chats === null ? COUNT_MESSAGES : COUNT_MESSAGES_OF_CHATS
  const all =
    db
      .prepare<[object], number>(sql)
      .pluck()
      .get({ ...scope }) ?? 0
  if (plan.exclude === null) return { count: all, isExact: true }
  const excluded = countMatches(db, plan.exclude, scope, deadline)
  return { count: Math.max(0, all - excluded.count), isExact: excluded.isExact }
}
