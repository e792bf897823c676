import { Temporal } from 'temporal-polyfill'

/** How many runs of a job stay: the newest of each of the last days, weeks and months that have a run. */
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
 * Which runs of a job are not kept. If all counts are 0, all runs stay. The newest run always stays.
 * @param timeZone IANA name of the zone of days, months, and weeks, which start on Monday
 */
export function runsToRemove(runs: readonly KeptRun[], keep: Keep, timeZone: string): readonly string[] {
  if (keep.daily + keep.weekly + keep.monthly === 0) return []
  const newestFirst = runs.toSorted((a, b) => b.createdAtMs - a.createdAtMs || (a.name < b.name ? 1 : -1))
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
