import { listBuckets, startOfDate, weekdayOf, type Buckets, type BucketUnit } from '../../buckets.ts'

/** Times of messages lie within a century: a wrong one must not keep the others from being counted. */
const DAYS_MAX = 100_000

interface CalendarRange {
  readonly unit: BucketUnit
  readonly timeZone: string
  readonly firstMs: number
  readonly lastMs: number
}

/** The days of a zone between two moments, and the buckets that they fall into. */
export class Calendar {
  /** Local dates. */
  readonly days: readonly string[]
  /** First local dates. */
  readonly buckets: readonly string[]
  readonly #days: Buckets
  readonly #bucketOfDay: Int32Array
  readonly #weekdays: Int32Array

  /** @throws RangeError where the range is longer than any store's */
  constructor({ unit, timeZone, firstMs, lastMs }: CalendarRange) {
    const list = listBuckets({ unit: 'day', timeZone, firstMs, lastMs }, DAYS_MAX)
    if (list.kind === 'too-many') throw new RangeError(`${list.count} days are no store's`)
    this.#days = list.buckets
    this.days = list.buckets.starts
    const starts = this.days.map((day) => startOfDate(day, unit))
    this.buckets = [...new Set(starts)]
    const indexOf = new Map(this.buckets.map((start, index) => [start, index]))
    this.#bucketOfDay = Int32Array.from(starts, (start) => indexOf.get(start) ?? 0)
    this.#weekdays = Int32Array.from(this.days, (day) => weekdayOf(Date.parse(day) / 86_400_000))
  }

  /** What a clock in the zone shows; the same as `ZoneOffsets.toLocalMs`. @param ms within the range */
  toLocalMs(ms: number): number {
    return this.#days.offsets.toLocalMs(ms)
  }

  /** A place in `days`. */
  dayAt(localMs: number): number {
    return this.#days.indexAtLocal(localMs)
  }

  /** A place in `buckets`. @param day a place in `days` */
  bucketOf(day: number): number {
    return this.#bucketOfDay[day] ?? 0
  }

  /** 0 for Monday. @param day a place in `days` */
  weekdayOf(day: number): number {
    return this.#weekdays[day] ?? 0
  }
}
