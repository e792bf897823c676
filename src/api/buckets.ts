import { Temporal } from 'temporal-polyfill'

export const bucketUnits = ['day', 'week', 'month'] as const
export type BucketUnit = (typeof bucketUnits)[number]

/** The most buckets in one answer. Without a limit, one message with a wrong year would give a century of days. */
export const BUCKETS_MAX = 10_000
const DAY_MS = 86_400_000

/** The period to divide into buckets. */
export interface BucketRange {
  readonly unit: BucketUnit
  /** IANA name, or an offset such as `+05:45`. */
  readonly timeZone: string
  /** Epoch milliseconds, inclusive. */
  readonly firstMs: number
  /** Epoch milliseconds, inclusive. */
  readonly lastMs: number
}

export type BucketList =
  | { readonly kind: 'buckets'; readonly buckets: Buckets }
  /** `count` and `max` are numbers of buckets. */
  | { readonly kind: 'too-many'; readonly count: number; readonly max: number }

/** The days, weeks (from Monday) or months of a time zone that cover a range, empty ones included. */
export function listBuckets(range: BucketRange, max: number = BUCKETS_MAX): BucketList {
  const count = estimateCount(range)
  if (count > max) return { kind: 'too-many', count, max }
  return { kind: 'buckets', buckets: new Buckets(range) }
}

/** A cheap estimate without the time zone, because the range may be 500,000 years long. */
function estimateCount({ unit, firstMs, lastMs }: BucketRange): number {
  const days = Math.max(0, lastMs - firstMs) / DAY_MS
  return Math.ceil(days / { day: 1, week: 7, month: 28 }[unit])
}

/** Finds the bucket of a moment in constant time. */
export class Buckets {
  /** The first local date of each bucket, `YYYY-MM-DD`, ascending. */
  readonly starts: readonly string[]
  /** The zone's UTC offsets over the range. */
  readonly offsets: ZoneOffsets
  readonly #firstMs: number
  readonly #lastMs: number
  readonly #firstDay: number
  /** The bucket of each local day of the range; -1 for a day that the zone skipped. */
  readonly #bucketOfDay: Int32Array

  constructor({ unit, timeZone, firstMs, lastMs }: BucketRange) {
    this.offsets = new ZoneOffsets(timeZone, firstMs, lastMs)
    this.#firstMs = firstMs
    this.#lastMs = lastMs
    const days = localDays(this.offsets, firstMs, lastMs)
    this.#firstDay = days[0] ?? 0
    this.#bucketOfDay = new Int32Array((days.at(-1) ?? 0) - this.#firstDay + 1).fill(-1)
    const starts: string[] = []
    for (const day of days) {
      const start = dateOfDay(firstDayOf(day, unit))
      if (starts.at(-1) !== start) starts.push(start)
      this.#bucketOfDay[day - this.#firstDay] = starts.length - 1
    }
    this.starts = starts
  }

  /** The index in `starts` of the bucket that contains a moment; -1 outside the range. @param ms epoch milliseconds */
  indexAt(ms: number): number {
    if (!(ms >= this.#firstMs && ms <= this.#lastMs)) return -1
    return this.indexAtLocal(this.offsets.toLocalMs(ms))
  }

  /** The same for a local time. @param localMs from `offsets.toLocalMs`, for a moment within the range */
  indexAtLocal(localMs: number): number {
    return this.#bucketOfDay[dayOf(localMs) - this.#firstDay] ?? -1
  }
}

/** Every local day with a moment in the range, ascending. A zone may skip a day: Samoa had no 30 December 2011. */
function localDays(offsets: ZoneOffsets, firstMs: number, lastMs: number): readonly number[] {
  const days = new Set<number>()
  for (const stretch of offsets.localStretches(firstMs, lastMs)) {
    for (let day = dayOf(stretch.firstMs); day <= dayOf(stretch.lastMs); day += 1) days.add(day)
  }
  return [...days].sort((left, right) => left - right)
}

/** The first date of the bucket that contains a local date. @param date `YYYY-MM-DD` */
export const startOfDate = (date: string, unit: BucketUnit): string =>
  dateOfDay(firstDayOf(Date.parse(date) / DAY_MS, unit))

/** The number of a local day, 0 for 1 January 1970. @param localMs from `ZoneOffsets.toLocalMs` */
export const dayOf = (localMs: number): number => Math.floor(localMs / DAY_MS)

/** 0 for Monday. Day 0, 1 January 1970, was a Thursday. @param day from `dayOf` */
export const weekdayOf = (day: number): number => (((day + 3) % 7) + 7) % 7

/** `YYYY-MM-DD`. @param day from `dayOf` */
export const dateOfDay = (day: number): string => new Date(day * DAY_MS).toISOString().replace(/T.*$/, '')

function firstDayOf(day: number, unit: BucketUnit): number {
  if (unit === 'day') return day
  if (unit === 'week') return day - weekdayOf(day)
  return day - new Date(day * DAY_MS).getUTCDate() + 1
}

/**
 * The UTC offsets of a time zone between two moments. Temporal is called once per clock change and not once per message:
 * for half a million messages it would need seconds.
 */
export class ZoneOffsets {
  /** Epoch milliseconds from which each offset applies, ascending. The first one also applies before. */
  readonly #startsMs: number[] = []
  readonly #offsetsMs: number[] = []
  /** The index that was found last. The next moment is usually near. */
  #at = 0

  /**
   * @param firstMs epoch milliseconds of the first moment that will be looked up
   * @param lastMs epoch milliseconds of the last one
   * @throws RangeError for an unknown zone
   */
  constructor(timeZone: string, firstMs: number, lastMs: number) {
    let moment: Temporal.ZonedDateTime | null =
      Temporal.Instant.fromEpochMilliseconds(firstMs).toZonedDateTimeISO(timeZone)
    while (moment !== null && moment.epochMilliseconds <= lastMs) {
      this.#startsMs.push(moment.epochMilliseconds)
      this.#offsetsMs.push(moment.offsetNanoseconds / 1e6)
      moment = moment.getTimeZoneTransition('next')
    }
  }

  /** The local time, as the epoch milliseconds at which a UTC clock shows the same. */
  toLocalMs(ms: number): number {
    while (ms < (this.#startsMs[this.#at] ?? -Infinity) && this.#at > 0) this.#at -= 1
    while (ms >= (this.#startsMs[this.#at + 1] ?? Infinity)) this.#at += 1
    return ms + (this.#offsetsMs[this.#at] ?? 0)
  }

  /** The periods between two clock changes: the local time at the first and at the last millisecond of each. */
  localStretches(firstMs: number, lastMs: number): { readonly firstMs: number; readonly lastMs: number }[] {
    return this.#startsMs.flatMap((startMs, index) => {
      const offsetMs = this.#offsetsMs[index] ?? 0
      const from = Math.max(startMs, firstMs)
      const to = Math.min((this.#startsMs[index + 1] ?? Infinity) - 1, lastMs)
      return from > to ? [] : [{ firstMs: from + offsetMs, lastMs: to + offsetMs }]
    })
  }
}
