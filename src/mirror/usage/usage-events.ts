import { prepared } from '../prepared.ts'
import type { Mirror } from '../open.ts'
import { findHeld } from './held-events.ts'
import type { UsageEvent } from './usage-event.ts'
import { matchUsage, type NoMatch } from './match-usage.ts'

export interface UnmatchedEvent {
  readonly line: number
  readonly atMs: number
  readonly model: string | null
  readonly reason: NoMatch
}

/** `rows` is the sum of the three after it. */
export interface UsageImport {
  readonly rows: number
  /** New rows of which the chat was found, and of which it was not. */
  readonly matched: number
  readonly unmatched: number
  /** Rows that an earlier file brought. */
  readonly already: number
  /** Rows of earlier files of which the chat was found only now. */
  readonly rematched: number
  /** The first of the unmatched. */
  readonly firstUnmatched: readonly UnmatchedEvent[]
}

/** So many are told one by one. */
const TOLD_MAX = 20

const ADD = `
insert into usage_events
  (identity, occurrence, at, kind, model, user, input, output, cache_read, cache_write, total, cents, imported_at)
values
  (@identity, (select 1 + ifnull(max(occurrence), 0) from usage_events where identity = @identity),
    @at, @kind, @model, @user, @input, @output, @cacheRead, @cacheWrite, @total, @cents, @now)
`
const COMPLETE = `
update usage_events set
  at = max(at, @at), kind = coalesce(@kind, kind), user = coalesce(user, @user), cents = coalesce(@cents, cents),
  input = coalesce(input, @input), output = coalesce(output, @output), total = coalesce(total, @total),
  cache_read = coalesce(cache_read, @cacheRead), cache_write = coalesce(cache_write, @cacheWrite)
where num = @num
`

/** Keeps what a file says, once, and looks for the chat of every row that has none yet. One transaction. */
export function importUsage(db: Mirror, events: readonly UsageEvent[], nowMs: number): UsageImport {
  return db.transaction(() => {
    const added = new Map<number, UsageEvent>()
    const held = findHeld(db, events)
    for (const event of events) {
      const { line: _, atMs, identity, ...said } = event
      const columns = { ...said, at: Math.floor(atMs) }
      const num = held.get(event)
      if (num !== undefined) prepared(db, COMPLETE).run({ ...columns, num })
      else added.set(Number(prepared(db, ADD).run({ ...columns, identity, now: nowMs }).lastInsertRowid), event)
    }
    const outcomes = matchUsage(db)
    const isNew = ({ num }: { readonly num: number }): boolean => added.has(num)
    const unmatched = outcomes.filter(isNew).flatMap(({ num, reason }) => {
      const event = added.get(num)
      return reason === null || event === undefined
        ? []
        : [{ line: event.line, atMs: event.atMs, model: event.model, reason }]
    })
    const found = outcomes.filter(({ reason }) => reason === null)
    return {
      rows: events.length,
      matched: found.filter(isNew).length,
      unmatched: unmatched.length,
      already: events.length - added.size,
      rematched: found.filter((outcome) => !isNew(outcome)).length,
      firstUnmatched: unmatched.toSorted((a, b) => a.line - b.line).slice(0, TOLD_MAX),
    }
  })()
}
