import { prepared } from '../sql.ts'
import type { Mirror } from '../open.ts'
import { matchUsage, type NoMatch } from './match-usage.ts'

/** One row of a usage file that the user downloaded. Missing values are null. */
export interface UsageEvent {
  /** Equal for rows with equal content. */
  readonly identity: string
  /** Line in the file, starting at 1. */
  readonly line: number
  /** Epoch milliseconds. */
  readonly atMs: number
  readonly kind: string | null
  readonly model: string | null
  readonly user: string | null
  readonly input: number | null
  readonly output: number | null
  readonly cacheRead: number | null
  readonly cacheWrite: number | null
  readonly total: number | null
  readonly cents: number | null
}

export interface UnmatchedEvent {
  readonly line: number
  readonly atMs: number
  readonly model: string | null
  readonly reason: NoMatch
}

/** `rows` is the sum of `matched`, `unmatched` and `already`. */
export interface UsageImport {
  readonly rows: number
  /** New rows whose chat was found, and new rows whose chat was not found. */
  readonly matched: number
  readonly unmatched: number
  /** Rows that were already imported from an earlier file. */
  readonly already: number
  /** Rows of earlier files whose chat was found only now. */
  readonly rematched: number
  /** The first of the unmatched. */
  readonly firstUnmatched: readonly UnmatchedEvent[]
}

/** How many unmatched rows are listed at most. */
const LISTED_MAX = 20

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

/** Saves the rows of a file without duplicates, and looks for the chats of all rows that have none. One transaction. */
export function importUsage(db: Mirror, events: readonly UsageEvent[], nowMs: number): UsageImport {
  return db.transaction(() => {
    const added = new Map<number, UsageEvent>()
    const held = findHeld(db, events)
    for (const event of events) {
      const { line: _, atMs, identity, ...rest } = event
      const columns = { ...rest, at: Math.floor(atMs) }
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
      firstUnmatched: unmatched.toSorted((a, b) => a.line - b.line).slice(0, LISTED_MAX),
    }
  })()
}

const MINUTE_MS = 60_000

/** The minute, the model and the token total are in every version of the file. */
const SAME = `
select num, at, user from usage_events
where at between @minute and @minute + ${MINUTE_MS - 1} and model is @model and @inAll =
  coalesce(total, ifnull(input, 0) + ifnull(output, 0) + ifnull(cache_read, 0) + ifnull(cache_write, 0))
order by num
`

type ComparedRow = Pick<
  UsageEvent,
  'atMs' | 'model' | 'user' | 'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'total'
>

interface HeldRow {
  readonly num: number
  readonly at: number
  readonly user: string | null
}

/**
 * Finds the rows that an earlier file already brought. Each saved row is used once, because equal rows of one file are
 * separate events. Files of 2025 have times in minutes, later ones in milliseconds. So a row with only a minute matches a
 * row within that minute, if no row with exactly that time is left. Two different times within a minute are two events.
 */
export function findHeld<Row extends ComparedRow>(db: Mirror, events: readonly Row[]): ReadonlyMap<Row, number> {
  const held = new Map<Row, number>()
  const taken = new Set<number>()
  const take = (event: Row, mayBe: (row: HeldRow) => boolean): void => {
    const row = sameRows(db, event).find((each) => !taken.has(each.num) && isSameUser(each, event) && mayBe(each))
    if (row === undefined) return
    taken.add(row.num)
    held.set(event, row.num)
  }
  for (const event of events) take(event, ({ at }) => at === Math.floor(event.atMs))
  for (const event of events) {
    if (!held.has(event)) take(event, ({ at }) => isMinute(at) !== isMinute(Math.floor(event.atMs)))
  }
  return held
}

const isMinute = (ms: number): boolean => ms % MINUTE_MS === 0

const isSameUser = (row: HeldRow, { user }: ComparedRow): boolean =>
  row.user === null || user === null || row.user === user

function sameRows(db: Mirror, { atMs, model, input, output, cacheRead, cacheWrite, total }: ComparedRow): HeldRow[] {
  const inAll = total ?? (input ?? 0) + (output ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0)
  const minute = Math.floor(atMs / MINUTE_MS) * MINUTE_MS
  return prepared<HeldRow>(db, SAME).all({ minute, model, inAll })
}
