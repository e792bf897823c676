import { describe, expect, test } from 'vitest'
import { bucketAt, monthOf, readPeriod } from '../../src/api/periods.ts'

/** A Tuesday. */
const NOW = '2026-01-20T12:34:56.000Z'
const read = (text: string, timeZone = 'UTC', now = NOW): string | null => {
  const period = readPeriod(text, { timeZone, nowMs: Date.parse(now) })
  const iso = (ms: number) => new Date(ms).toISOString().replace(/:00\.000Z$/, '')
  return period === null ? null : `${iso(period.startMs)} ${iso(period.endMs)}`
}

describe('dates and times', () => {
  test.each([
    ['2026-03-01', 'UTC', '2026-03-01T00:00 2026-03-02T00:00'],
    ['2026-03-01', 'Asia/Tokyo', '2026-02-28T15:00 2026-03-01T15:00'],
    // The clocks of Beirut went from 24:00 to 01:00: that day has no midnight.
    ['2021-03-28', 'Asia/Beirut', '2021-03-27T22:00 2021-03-28T21:00'],
    // Days with 23 and with 25 hours.
    ['2026-03-29', 'Europe/Berlin', '2026-03-28T23:00 2026-03-29T22:00'],
    ['2026-10-25', 'Europe/Berlin', '2026-10-24T22:00 2026-10-25T23:00'],
    ['2026-03-01T09:30:00Z', 'Asia/Tokyo', '2026-03-01T09:30 2026-03-01T09:30:01.000Z'],
    ['2026-03-01T09:30+01:00', 'UTC', '2026-03-01T08:30 2026-03-01T08:31'],
    ['2026-03-01T09:30 01:00', 'UTC', '2026-03-01T08:30 2026-03-01T08:31'],
    ['2026-03-01T09:30', 'Europe/Berlin', '2026-03-01T08:30 2026-03-01T08:31'],
    ['2026-02', 'UTC', '2026-02-01T00:00 2026-03-01T00:00'],
    ['2026', 'America/New_York', '2026-01-01T05:00 2027-01-01T05:00'],
    ['2026-Q3', 'UTC', '2026-07-01T00:00 2026-10-01T00:00'],
    ['2026-q4', 'UTC', '2026-10-01T00:00 2027-01-01T00:00'],
  ])('%s in %s is %s', (text, timeZone, expected) => {
    expect(read(text, timeZone)).toBe(expected)
  })
})

describe('words', () => {
  test.each([
    ['today', '2026-01-20T00:00 2026-01-21T00:00'],
    ['Yesterday', '2026-01-19T00:00 2026-01-20T00:00'],
    ['7d', '2026-01-13T00:00 2026-01-21T00:00'],
    ['2w', '2026-01-06T00:00 2026-01-21T00:00'],
    ['3m', '2025-10-20T00:00 2026-01-21T00:00'],
    ['1y', '2025-01-20T00:00 2026-01-21T00:00'],
    ['2h', '2026-01-20T10:34:56.000Z 2026-01-21T00:00'],
    ['this week', '2026-01-19T00:00 2026-01-26T00:00'],
    ['last week', '2026-01-12T00:00 2026-01-19T00:00'],
    ['last-month', '2025-12-01T00:00 2026-01-01T00:00'],
    ['this month', '2026-01-01T00:00 2026-02-01T00:00'],
    ['last year', '2025-01-01T00:00 2026-01-01T00:00'],
    ['monday', '2026-01-19T00:00 2026-01-20T00:00'],
    ['tue', '2026-01-20T00:00 2026-01-21T00:00'],
    ['last tuesday', '2026-01-13T00:00 2026-01-14T00:00'],
    ['wednesday', '2026-01-14T00:00 2026-01-15T00:00'],
  ])('%s is %s', (text, expected) => {
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
