import { Temporal } from 'temporal-polyfill'

export const bucketUnits = ['day', 'week', 'month'] as const
export type BucketUnit = (typeof bucketUnits)[number]

/** The most buckets in one answer. Without a limit, one message with a wrong year would give a century of days. */
export const BUCKETS_MAX = 10_000
const DAY_MS = 86_400_000

/** The number of a local day, 0 for 1 January 1970. @param localMs from `ZoneOffsets.toLocalMs` */
export const dayOf = (localMs: number): number => Math.floor(localMs / DAY_MS)

/** 0 for Monday. Day 0, 1 January 1970, was a Thursday. @param day from `dayOf` */
export const weekdayOf = (day: number): number => (((day + 3) % 7) + 7) % 7

/** `YYYY-MM-DD`. @param day from `dayOf` */
export const dateOfDay = (day: number): string => new Date(day * DAY_MS).toISOString().replace(/T.*$/, '')

/** The first day of the bucket that contains a local day. @param day from `dayOf` */
export function firstDayOf(day: number, unit: BucketUnit): number {
  if (unit === 'day') return day
  if (unit === 'week') return day - weekdayOf(day)
  return day - new Date(day * DAY_MS).getUTCDate() + 1
}

/** The number of buckets from one to another. @param first and last: the first days of the buckets, as from `firstDayOf` */
export function bucketsBetween(first: number, last: number, unit: BucketUnit): number {
  return unit === 'month' ? monthOf(last) - monthOf(first) : (last - first) / (unit === 'week' ? 7 : 1)
}

const monthOf = (day: number): number => {
  const date = new Date(day * DAY_MS)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

/** The first day of the next bucket. */
export const nextBucket = (first: number, unit: BucketUnit): number =>
  firstDayOf(first + { day: 1, week: 7, month: 31 }[unit], unit)

/**
 * Local times of a zone, best asked in ascending order. Temporal is called once for each clock change and not for each
 * time: for half a million messages it would need seconds.
 */
export class ZoneClock {
  readonly #timeZone: string
  /** The stretch of time with a single offset that was found last. */
  #startMs = Infinity
  #endMs = -Infinity
  #offsetMs = 0

  constructor(timeZone: string) {
    this.#timeZone = timeZone
  }

  /** The local time, as the epoch milliseconds at which a UTC clock shows the same. @throws RangeError for an unknown zone */
  toLocalMs(ms: number): number {
    if (ms < this.#startMs || ms >= this.#endMs) {
      const moment = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(this.#timeZone)
      this.#startMs = ms
      this.#endMs = moment.getTimeZoneTransition('next')?.epochMilliseconds ?? Infinity
      this.#offsetMs = moment.offsetNanoseconds / 1e6
    }
    return ms + this.#offsetMs
  }
}
