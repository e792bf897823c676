import { Temporal } from 'temporal-polyfill'

export const bucketUnits = ['day', 'week', 'month'] as const
export type BucketUnit = (typeof bucketUnits)[number]

/** Nobody reads more, and a single wrong time would ask for a century of days. */
export const BUCKETS_MAX = 10_000
const DAY_MS = 86_400_000

/** The stretch to be divided. */
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
  /** `count` and `max` are of buckets. */
  | { readonly kind: 'too-many'; readonly count: number; readonly max: number }

/** The days, weeks (from Monday) or months of a zone that hold a range, the empty ones too. */
export function listBuckets(range: BucketRange, max: number = BUCKETS_MAX): BucketList {
  const count = estimateCount(range)
  if (count > max) return { kind: 'too-many', count, max }
  return { kind: 'buckets', buckets: new Buckets(range) }
}

/** Before anything is asked of the zone: it may be a range of 500,000 years. */
function estimateCount({ unit, firstMs, lastMs }: BucketRange): number {
  const days = Math.max(0, lastMs - firstMs) / DAY_MS
  return Math.ceil(days / { day: 1, week: 7, month: 28 }[unit])
}

/** Looks a moment's bucket up, in no more than a few additions. */
export class Buckets {
  /** The first local date of each bucket, `YYYY-MM-DD`, ascending. */
  readonly starts: readonly string[]
  /** The zone's clocks over the range. */
  readonly offsets: ZoneOffsets
  readonly #firstMs: number
  readonly #lastMs: number
  readonly #firstDay: number
  /** The bucket of each local day of the range; -1 for a day that the zone left out. */
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

  /** The place in `starts` of the bucket that holds a moment; -1 outside the range. @param ms epoch milliseconds */
  indexAt(ms: number): number {
    if (!(ms >= this.#firstMs && ms <= this.#lastMs)) return -1
    return this.indexAtLocal(this.offsets.toLocalMs(ms))
  }

  /** The same of what a clock in the zone shows. @param localMs from `offsets.toLocalMs`, of a moment within the range */
  indexAtLocal(localMs: number): number {
    return this.#bucketOfDay[dayOf(localMs) - this.#firstDay] ?? -1
  }
}

/** Every local day with a moment in the range, ascending: Samoa had no 30 December 2011. */
function localDays(offsets: ZoneOffsets, firstMs: number, lastMs: number): readonly number[] {
  const days = new Set<number>()
  for (const stretch of offsets.localStretches(firstMs, lastMs)) {
    for (let day = dayOf(stretch.firstMs); day <= dayOf(stretch.lastMs); day += 1) days.add(day)
  }
  return [...days].sort((left, right) => left - right)
}

/** The first date of the bucket that a local date lies in. @param date `YYYY-MM-DD` */
export const startOfDate = (date: string, unit: BucketUnit): string =>
  dateOfDay(firstDayOf(Date.parse(date) / DAY_MS, unit))

/** The number of a local day, 0 for 1 January 1970. @param localMs from `ZoneOffsets.toLocalMs` */
export const dayOf = (localMs: number): number => Math.floor(localMs / DAY_MS)

/** 0 for Monday. That 1 January was a Thursday. @param day from `dayOf` */
export const weekdayOf = (day: number): number => (((day + 3) % 7) + 7) % 7

/** `YYYY-MM-DD`. @param day from `dayOf` */
export const dateOfDay = (day: number): string => new Date(day * DAY_MS).toISOString().replace(/T.*$/, '')

function firstDayOf(day: number, unit: BucketUnit): number {
  if (unit === 'day') return day
  if (unit === 'week') return day - weekdayOf(day)
  return day - new Date(day * DAY_MS).getUTCDate() + 1
}

/**
 * What a zone's clocks show between two moments. Temporal is asked once for each change of the clocks and not for each
 * message: half a million messages would take it seconds.
 */
export class ZoneOffsets {
  /** Epoch milliseconds from which each offset counts, ascending; the first counts before, too. */
  readonly #startsMs: number[] = []
  readonly #offsetsMs: number[] = []
  /** Where the last moment was found: the next one mostly lies near. */
  #at = 0

  /**
   * @param firstMs epoch milliseconds, the first moment that will be asked for
   * @param lastMs the last one
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

  /** What a clock in the zone shows, as the epoch milliseconds at which a clock in UTC shows the same. */
  toLocalMs(ms: number): number {
    while (ms < (this.#startsMs[this.#at] ?? -Infinity) && this.#at > 0) this.#at -= 1
    while (ms >= (this.#startsMs[this.#at + 1] ?? Infinity)) this.#at += 1
    return ms + (this.#offsetsMs[this.#at] ?? 0)
  }

  /** The stretches between two changes of the clocks: the local time at the first and at the last millisecond of each. */
  localStretches(firstMs: number, lastMs: number): { readonly firstMs: number; readonly lastMs: number }[] {
    return this.#startsMs.flatMap((startMs, index) => {
      const offsetMs = this.#offsetsMs[index] ?? 0
      const from = Math.max(startMs, firstMs)
      const to = Math.min((this.#startsMs[index + 1] ?? Infinity) - 1, lastMs)
      return from > to ? [] : [{ firstMs: from + offsetMs, lastMs: to + offsetMs }]
    })
  }
}
