import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import type { UsageEvent } from './usage-event.ts'

const MINUTE_MS = 60_000

/** Minute, model and how much in all are in every version of the file. */
const SAME = `
select num, at, user from usage_events
where at between @minute and @minute + ${MINUTE_MS - 1} and model is @model and @inAll =
  coalesce(total, ifnull(input, 0) + ifnull(output, 0) + ifnull(cache_read, 0) + ifnull(cache_write, 0))
order by num
`

type SaidRow = Pick<UsageEvent, 'atMs' | 'model' | 'user' | 'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'total'>

interface HeldRow {
  readonly num: number
  readonly at: number
  readonly user: string | null
}

/**
 * Which rows of a file an earlier one brought, each one once: equal rows of one file are as many events. The version of
 * 2025 tells minutes and later ones milliseconds, so that a row which tells the minute alone is the same as one within
 * it, if no row of that very time is left. Two different times within a minute are two events.
 */
export function findHeld<Row extends SaidRow>(db: Mirror, events: readonly Row[]): ReadonlyMap<Row, number> {
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

const isSameUser = (row: HeldRow, { user }: SaidRow): boolean => row.user === null || user === null || row.user === user

function sameRows(db: Mirror, { atMs, model, input, output, cacheRead, cacheWrite, total }: SaidRow): HeldRow[] {
  const inAll = total ?? (input ?? 0) + (output ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0)
  const minute = Math.floor(atMs / MINUTE_MS) * MINUTE_MS
  return prepared<HeldRow>(db, SAME).all({ minute, model, inAll })
}
