import { Temporal } from 'temporal-polyfill'
import { describe, expect, test } from 'vitest'
import { bucketUnits, dayOf, listBuckets, weekdayOf, type Buckets, type BucketUnit } from '../../src/api/buckets.ts'

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
  test.each([
    ['UTC', '2025-12-20T00:00:00Z'],
    ['America/New_York', '2026-02-25T00:00:00Z'],
    ['America/New_York', '2026-10-20T00:00:00Z'],
    ['Asia/Kathmandu', '2026-02-25T00:00:00Z'],
    ['Pacific/Marquesas', '2026-02-25T00:00:00Z'],
    ['+05:45', '2026-02-25T00:00:00Z'],
    ['-09:30', '2026-02-25T00:00:00Z'],
    // Changes by half an hour.
    ['Australia/Lord_Howe', '2026-03-28T00:00:00Z'],
    ['Australia/Lord_Howe', '2026-09-28T00:00:00Z'],
    // Skips 30 December.
    ['Pacific/Apia', '2011-12-20T00:00:00Z'],
    // Clocks go from one minute past midnight back to the day before.
    ['America/St_Johns', '2010-10-30T00:00:00Z'],
    // A day without midnight.
    ['Asia/Beirut', '2021-03-20T00:00:00Z'],
    ['America/Sao_Paulo', '2018-10-25T00:00:00Z'],
    // Two changes within five weeks.
    ['Africa/Casablanca', '2026-02-05T00:00:00Z'],
  ])('in %s from %s is the bucket of its local date', (timeZone, from) => {
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
  })

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
