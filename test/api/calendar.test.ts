import { Temporal } from 'temporal-polyfill'
import { describe, expect, test } from 'vitest'
import { bucketUnits, dayOf, listBuckets, weekdayOf, type Buckets, type BucketUnit } from '../../src/api/buckets.ts'
import { bucketAt, monthOf, readPeriod } from '../../src/api/periods.ts'
import { casesBeside } from '../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

function bucketsOf(unit: BucketUnit, timeZone: string, from: string, to: string): Buckets {
  const list = listBuckets({ unit, timeZone, firstMs: Date.parse(from), lastMs: Date.parse(to) - 1 })
  if (list.kind === 'too-many') throw new Error(`${list.count} buckets`)
  return list.buckets
}

/** A slow reference: asks the calendar for every moment. */
function startByCalendar(ms: number, unit: BucketUnit, timeZone: string): string {
  const date = zoned(ms, timeZone).toPlainDate()
  if (unit === 'day') return date.toString()
  return (unit === 'week' ? date.subtract({ days: date.dayOfWeek - 1 }) : date.with({ day: 1 })).toString()
}

const zoned = (ms: number, timeZone: string): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone)

const hourOf = (localMs: number): number => Math.floor(localMs / 3_600_000) - dayOf(localMs) * 24

const startAt = (buckets: Buckets, moment: string): string | undefined =>
  buckets.starts[buckets.indexAt(Date.parse(moment))]

describe('the bucket of a moment', () => {
  // Periods with difficult clock changes.
  test.each(cases<[timeZone: string, from: string]>('zones'))(
    'in %s from %s is the bucket of its local date',
    (timeZone, from) => {
      const firstMs = Date.parse(from)
      const to = new Date(firstMs + 45 * 86_400_000).toISOString()
      const all = bucketUnits.map((unit) => [unit, bucketsOf(unit, timeZone, from, to)] as const)
      for (let ms = firstMs; ms < Date.parse(to); ms += 23 * 60_000) {
        const local = zoned(ms, timeZone)
        for (const [unit, buckets] of all) {
          const start = buckets.starts[buckets.indexAt(ms)]
          if (start !== startByCalendar(ms, unit, timeZone)) throw new Error(`${local.toString()} is not in ${start}`)
        }
        const localMs = all[0]?.[1].offsets.toLocalMs(ms) ?? 0
        expect([hourOf(localMs), weekdayOf(dayOf(localMs))]).toEqual([local.hour, local.dayOfWeek - 1])
      }
    },
  )

  test('changes with the last millisecond of a day', () => {
    const buckets = bucketsOf('day', 'America/New_York', '2026-03-01T00:00:00Z', '2026-04-01T00:00:00Z')
    expect(startAt(buckets, '2026-03-08T04:59:59.999Z')).toBe('2026-03-07')
    expect(startAt(buckets, '2026-03-08T05:00:00.000Z')).toBe('2026-03-08')
    // A day with 23 hours.
    expect(startAt(buckets, '2026-03-09T03:59:59.999Z')).toBe('2026-03-08')
    expect(startAt(buckets, '2026-03-09T04:00:00.000Z')).toBe('2026-03-09')
  })

  test('does not depend on the order of look-ups', () => {
    const buckets = bucketsOf('day', 'Europe/Berlin', '2020-01-01T00:00:00Z', '2026-01-01T00:00:00Z')
    const moments = ['2025-07-01T22:30:00Z', '2020-01-10T22:30:00Z', '2023-07-01T22:30:00Z', '2022-02-01T22:30:00Z']
    expect(moments.map((moment) => startAt(buckets, moment))).toEqual([
      '2025-07-02',
      '2020-01-10',
      '2023-07-02',
      '2022-02-01',
    ])
  })

  test('does not exist outside the range', () => {
    const buckets = bucketsOf('week', 'UTC', '2026-01-07T00:00:00Z', '2026-01-09T00:00:00Z')
    expect(['2026-01-06T23:59:59.999Z', '2026-01-09T00:00:00Z'].map((at) => buckets.indexAt(Date.parse(at)))).toEqual([
      -1, -1,
    ])
  })
})

describe('the list of buckets', () => {
  test('includes empty ones, each once', () => {
    expect(bucketsOf('day', 'UTC', '2026-02-27T12:00:00Z', '2026-03-02T00:00:00.001Z').starts).toEqual([
      '2026-02-27',
      '2026-02-28',
      '2026-03-01',
      '2026-03-02',
    ])
    expect(bucketsOf('month', 'UTC', '2025-11-30T12:00:00Z', '2026-03-01T00:00:00Z').starts).toEqual([
      '2025-11-01',
      '2025-12-01',
      '2026-01-01',
      '2026-02-01',
    ])
  })

  test('has weeks from Monday; the first may begin before the range', () => {
    expect(bucketsOf('week', 'UTC', '2025-12-31T00:00:00Z', '2026-01-12T00:00:00.001Z').starts).toEqual([
      '2025-12-29',
      '2026-01-05',
      '2026-01-12',
    ])
  })

  test('has no day that the zone skipped', () => {
    expect(bucketsOf('day', 'Pacific/Apia', '2011-12-29T12:00:00Z', '2012-01-01T00:00:00Z').starts).toEqual([
      '2011-12-29',
      '2011-12-31',
      '2012-01-01',
    ])
  })

  test('is one bucket for one moment', () => {
    const list = listBuckets({ unit: 'month', timeZone: 'UTC', firstMs: 1.7e12, lastMs: 1.7e12 })
    expect(list.kind === 'buckets' && list.buckets.starts).toEqual(['2023-11-01'])
  })

  test.each(bucketUnits)('by %s is refused if there are too many', (unit) => {
    const list = listBuckets({ unit, timeZone: 'Europe/Berlin', firstMs: -8.64e15, lastMs: 8.64e15 })
    expect(list).toMatchObject({ kind: 'too-many', max: 10_000 })
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

  test('the month of a moment depends on the zone', () => {
    const ms = Date.parse('2026-01-31T23:30:00Z')
    expect(monthOf(ms, 'UTC').name).toBe('2026-01')
    expect(monthOf(ms, 'Europe/Berlin')).toEqual({ name: '2026-02', startMs: Date.parse('2026-01-31T23:00:00Z') })
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

test('a day that clocks repeat has parts, and each part ends after its moments', () => {
  // Clocks went from 00:01 on 7 November back to 23:01 on the 6th. So the 6th occurred twice.
  const day = (time: string) => {
    const { start, startMs, endMs } = bucketAt(Date.parse(`2010-11-07T${time}Z`), 'day', 'America/St_Johns')
    return [start, new Date(startMs).toISOString().slice(8, 16), new Date(endMs).toISOString().slice(8, 16)]
  }
  expect(day('02:00')).toEqual(['2010-11-06', '06T02:30', '07T02:30'])
  expect(day('02:30:30')).toEqual(['2010-11-07', '07T02:30', '07T02:31'])
  expect(day('03:00')).toEqual(['2010-11-06', '07T02:31', '07T03:30'])
  expect(day('12:00')).toEqual(['2010-11-07', '07T03:30', '08T03:30'])
})

test.each(['UTC', 'America/St_Johns', 'Asia/Tokyo', 'Pacific/Apia', '+05:45'])(
  'the end of a bucket is after each of its moments, at any time, in %s',
  (timeZone) => {
    const moments = [0, Date.UTC(2010, 10, 7, 3), Date.UTC(2011, 11, 30, 12), 8.64e15 - 1, 8.64e15]
    for (const unit of ['day', 'week', 'month'] as const) {
      for (const ms of moments) expect(bucketAt(ms, unit, timeZone).endMs).toBeGreaterThan(ms)
    }
  },
)
