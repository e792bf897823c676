import { Temporal } from 'temporal-polyfill'
import { isAheadOfClock } from './ahead-of-clock.ts'

/** How many runs of a job stay: of each of the last so many days, weeks and months that have one, the newest. */
export interface Keep {
  readonly daily: number
  readonly weekly: number
  readonly monthly: number
}

export interface KeptRun {
  readonly name: string
  readonly createdAtMs: number
}

/**
 * Which runs of a job are not kept. Where nothing is said of how many stay, all do, and the newest always does. A run
 * that was made under a clock far ahead takes no real one's place, and stays until its time has come.
 * @param timeZone IANA name: the zone whose days, weeks from Monday on, and months are meant
 */
export function runsToRemove(runs: readonly KeptRun[], keep: Keep, timeZone: string, nowMs: number): readonly string[] {
  if (keep.daily + keep.weekly + keep.monthly === 0) return []
  const told = runs.filter(({ createdAtMs }) => !isAheadOfClock(createdAtMs, nowMs))
  const newestFirst = told.toSorted((a, b) => b.createdAtMs - a.createdAtMs || (a.name < b.name ? 1 : -1))
  const dated = newestFirst.map(({ name, createdAtMs }) => ({ name, date: dateOf(createdAtMs, timeZone) }))
  const kept = new Set([
    ...newestOfEach(dated, keep.daily, (date) => date.toString()),
    ...newestOfEach(dated, keep.weekly, (date) => date.subtract({ days: date.dayOfWeek - 1 }).toString()),
    ...newestOfEach(dated, keep.monthly, (date) => date.toPlainYearMonth().toString()),
  ])
  return newestFirst.map(({ name }) => name).filter((name) => !kept.has(name))
}

interface DatedRun {
  readonly name: string
  readonly date: Temporal.PlainDate
}

function newestOfEach(
  newestFirst: readonly DatedRun[],
  count: number,
  periodOf: (date: Temporal.PlainDate) => string,
): readonly string[] {
  const newest = new Map<string, string>()
  for (const { name, date } of newestFirst) {
    const period = periodOf(date)
    if (!newest.has(period)) newest.set(period, name)
  }
  return [...newest.values()].slice(0, count)
}

const dateOf = (ms: number, timeZone: string): Temporal.PlainDate =>
  Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone).toPlainDate()
