import { Temporal } from 'temporal-polyfill'
import { describe, expect, test } from 'vitest'
import {
  bucketUnits,
  dateOfDay,
  dayOf,
  firstDayOf,
  nextBucket,
  weekdayOf,
  ZoneClock,
  type BucketUnit,
  readPeriod,
} from '../../src/api/periods.ts'
import { casesBeside } from '../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

/** A slow reference: asks the calendar for every moment. */
function startByCalendar(ms: number, unit: BucketUnit, timeZone: string): string {
  const date = zoned(ms, timeZone).toPlainDate()
  if (unit === 'day') return date.toString()
  return (unit === 'week' ? date.subtract({ days: date.dayOfWeek - 1 }) : date.with({ day: 1 })).toString()
}

const zoned = (ms: number, timeZone: string): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone)

const hourOf = (localMs: number): number => Math.floor(localMs / 3_600_000) - dayOf(localMs) * 24

describe('the bucket of a moment', () => {
  // Periods with difficult clock changes.
  test.each(cases<[timeZone: string, from: string]>('zones'))(
    'in %s from %s is the bucket of its local date',
    (timeZone, from) => {
      const clock = new ZoneClock(timeZone)
      const firstMs = Date.parse(from)
      const moments = Array.from({ length: (45 * 24 * 60) / 23 }, (_, step) => firstMs + step * 23 * 60_000)
      for (const ms of [...moments, firstMs]) {
        const local = zoned(ms, timeZone)
        const localMs = clock.toLocalMs(ms)
        expect([hourOf(localMs), weekdayOf(dayOf(localMs))]).toEqual([local.hour, local.dayOfWeek - 1])
        for (const unit of bucketUnits) {
          const start = dateOfDay(firstDayOf(dayOf(localMs), unit))
          if (start !== startByCalendar(ms, unit, timeZone)) throw new Error(`${local.toString()} is not in ${start}`)
        }
      }
    },
  )

  test.each(bucketUnits)('is followed by the next one, by %s', (unit) => {
    const first = firstDayOf(dayOf(Date.parse('2023-11-20')), unit)
    let next = first
    for (let count = 1; count <= 100; count += 1) {
      next = nextBucket(next, unit)
      expect([firstDayOf(next - 1, unit) < next, firstDayOf(next, unit)]).toEqual([true, next])
    }
  })
})

/** A Tuesday. */
const NOW = '2026-01-20T12:34:56.000Z'
const read = (text: string, timeZone = 'UTC', now = NOW): string | null => {
  const period = readPeriod(text, { timeZone, nowMs: Date.parse(now) })
  const iso = (ms: number) => new Date(ms).toISOString().replace(/:00\.000Z$/, '')
  return period === null ? null : `${iso(period.startMs)} ${iso(period.endMs)}`
}

describe('dates and times', () => {
  test.each(cases<[text: string, timeZone: string, expected: string]>('dates and times'))(
    '%s in %s is %s',
    (text, timeZone, expected) => {
      expect(read(text, timeZone)).toBe(expected)
    },
  )
})

describe('words', () => {
  test.each(cases<[text: string, expected: string]>('words'))('%s is %s', (text, expected) => {
    expect(read(text)).toBe(expected)
  })

  test('are read in the given zone', () => {
    expect(read('today', 'Asia/Tokyo', '2026-01-20T15:00:00Z')).toBe('2026-01-20T15:00 2026-01-21T15:00')
    // A week in which the clocks change is 167 hours long.
    expect(read('this week', 'Europe/Berlin', '2026-03-25T12:00:00Z')).toBe('2026-03-22T23:00 2026-03-29T22:00')
  })
})

test.each(['', 'someday', '2026-3-1', '2026-13-01', '2025-02-29', '2026-13', '2026-Q5', '20260301', '1772355600000'])(
  '%j is no date',
  (text) => {
    expect(read(text)).toBeNull()
  },
)
test.each(['2026-03-01T25:00Z', '7x', '99999d', 'last', 'last day', 'next week', 'mon tue'])('nor is %j', (text) => {
  expect(read(text)).toBeNull()
})
