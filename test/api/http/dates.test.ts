import { describe, expect, it } from 'vitest'
import { parseMoment, readPeriod } from '../../../src/api/http/dates.ts'

describe('a moment', () => {
  it.each([
    ['2026-03-01', 'UTC', '2026-03-01T00:00:00.000Z'],
    ['2026-03-01', 'Asia/Tokyo', '2026-02-28T15:00:00.000Z'],
    // The clocks of Beirut went from 24:00 to 01:00: that day has no midnight.
    ['2021-03-28', 'Asia/Beirut', '2021-03-27T22:00:00.000Z'],
    ['2026-03-01T09:30:00Z', 'Asia/Tokyo', '2026-03-01T09:30:00.000Z'],
    ['2026-03-01T09:30:00.123456Z', 'UTC', '2026-03-01T09:30:00.123Z'],
    ['2026-03-01T09:30+01:00', 'UTC', '2026-03-01T08:30:00.000Z'],
    ['2026-03-01T09:30 01:00', 'UTC', '2026-03-01T08:30:00.000Z'],
    ['2026-03-01T09:30', 'Europe/Berlin', '2026-03-01T08:30:00.000Z'],
  ])('%s in %s is %s', (text, timeZone, expected) => {
    expect(new Date(parseMoment(text, timeZone) ?? Number.NaN).toISOString()).toBe(expected)
  })

  it.each([
    '',
    'today',
    '2026',
    '2026-3-1',
    '2026-13-01',
    '2025-02-29',
    '20260301',
    '1772355600000',
    '2026-03-01T25:00Z',
  ])('%j is none', (text) => {
    expect(parseMoment(text, 'UTC')).toBeNull()
  })
})

describe('a period', () => {
  it('is read in the zone it names, else in the default', () => {
    const query = { from: '2026-07-01', to: null, tz: null }
    expect(readPeriod(query, 'Europe/Berlin')).toEqual({
      fromMs: Date.UTC(2026, 5, 30, 22),
      toMs: null,
      timeZone: 'Europe/Berlin',
    })
    expect(readPeriod({ ...query, tz: 'UTC' }, 'Europe/Berlin').fromMs).toBe(Date.UTC(2026, 6, 1))
  })

  it('names both ends if both are wrong', () => {
    expect(() => readPeriod({ from: 'x', to: 'y', tz: null }, 'UTC')).toThrow(
      expect.objectContaining({
        errors: [expect.objectContaining({ name: 'from' }), expect.objectContaining({ name: 'to' })],
      }),
    )
  })
})
