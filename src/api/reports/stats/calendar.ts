import { listBuckets, startOfDate, weekdayOf, type Buckets, type BucketUnit } from '../../buckets.ts'

/** Enough for more than two centuries, so that a message with a wrong year does not prevent counting the others. */
const DAYS_MAX = 100_000

interface CalendarRange {
  readonly unit: BucketUnit
  readonly timeZone: string
  readonly firstMs: number
  readonly lastMs: number
}

/** The days of a time zone between two moments, and their buckets. */
export class Calendar {
  /** Local dates. */
  readonly days: readonly string[]
  /** First local dates. */
  readonly buckets: readonly string[]
  readonly #days: Buckets
  readonly #bucketOfDay: Int32Array
  readonly #weekdays: Int32Array

  /** @throws RangeError if the range has more than 100,000 days */
  constructor({ unit, timeZone, firstMs, lastMs }: CalendarRange) {
    const list = listBuckets({ unit: 'day', timeZone, firstMs, lastMs }, DAYS_MAX)
    if (list.kind === 'too-many') throw new RangeError(`the messages span ${list.count} days`)
    this.#days = list.buckets
    this.days = list.buckets.starts
    const starts = this.days.map((day) => startOfDate(day, unit))
    this.buckets = [...new Set(starts)]
    const indexOf = new Map(this.buckets.map((start, index) => [start, index]))
    this.#bucketOfDay = Int32Array.from(starts, (start) => indexOf.get(start) ?? 0)
    this.#weekdays = Int32Array.from(this.days, (day) => weekdayOf(Date.parse(day) / 86_400_000))
  }

  /** The local time, like `ZoneOffsets.toLocalMs`. @param ms within the range */
  toLocalMs(ms: number): number {
    return this.#days.offsets.toLocalMs(ms)
  }

  /** An index in `days`. */
  dayAt(localMs: number): number {
    return this.#days.indexAtLocal(localMs)
  }

  /** An index in `buckets`. @param day an index in `days` */
  bucketOf(day: number): number {
    return this.#bucketOfDay[day] ?? 0
  }

  /** 0 for Monday. @param day an index in `days` */
  weekdayOf(day: number): number {
    return this.#weekdays[day] ?? 0
  }
}
