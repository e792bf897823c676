import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runsToRemove, type Keep, type KeptRun } from '../../../src/api/archives/prune.ts'

const DAY_MS = 86_400_000
const run = (iso: string): KeptRun => ({ name: iso, createdAtMs: Date.parse(iso) })
const keep = (daily: number, weekly = 0, monthly = 0): Keep => ({ daily, weekly, monthly })
const left = (runs: readonly KeptRun[], how: Keep, zone = 'UTC'): string[] => {
  const gone = new Set(runsToRemove(runs, how, zone))
  return runs.map(({ name }) => name).filter((name) => !gone.has(name))
}

test('all runs stay if no number is given', () => {
  expect(runsToRemove([run('2026-01-01T00:00:00Z'), run('2020-01-01T00:00:00Z')], keep(0), 'UTC')).toEqual([])
})

test('the newest run of each day stays, and days without a run do not count', () => {
  const runs = ['2026-01-01T01:00:00Z', '2026-01-01T23:00:00Z', '2026-03-01T01:00:00Z', '2026-03-02T01:00:00Z'].map(run)
  expect(left(runs, keep(2))).toEqual(['2026-03-01T01:00:00Z', '2026-03-02T01:00:00Z'])
  expect(left(runs, keep(3))[0]).toBe('2026-01-01T23:00:00Z')
})

test('days are those of the job’s time zone', () => {
  const runs = ['2026-01-01T22:00:00Z', '2026-01-02T02:00:00Z'].map(run)
  expect(left(runs, keep(5))).toHaveLength(2)
  expect(left(runs, keep(5), 'Europe/Berlin')).toHaveLength(2)
  expect(left(runs, keep(5), 'Asia/Tokyo')).toEqual(['2026-01-02T02:00:00Z'])
})

test('over a year of nightly runs, 7 days, 4 weeks and 12 months stay', () => {
  const all = Array.from({ length: 365 }, (_, day) =>
    run(new Date(Date.UTC(2026, 0, 1, 3) + day * DAY_MS).toISOString()),
  )
  let held: KeptRun[] = []
  for (const each of all) {
    held.push(each)
    const gone = new Set(runsToRemove(held, keep(7, 4, 12), 'Europe/Berlin'))
    held = held.filter(({ name }) => !gone.has(name))
  }
  const days = held.map(({ name }) => name.slice(0, 10))
  expect(days.slice(-7)).toEqual(all.slice(-7).map(({ name }) => name.slice(0, 10)))
  // The last day of each month; Sundays end weeks, and the last seven days are a week and a half.
  expect(days.filter((day) => day < '2026-12-01')).toEqual(
    Array.from({ length: 11 }, (_, month) => new Date(Date.UTC(2026, month + 1, 0)).toISOString().slice(0, 10)),
  )
  expect(days).toEqual(expect.arrayContaining(['2026-12-13', '2026-12-20', '2026-12-27', '2026-12-31']))
})

const anyRuns = fc
  .uniqueArray(fc.integer({ min: 0, max: 800 * 24 }), { maxLength: 60 })
  .map((hours) => hours.map((hour) => run(new Date(Date.UTC(2024, 0, 1) + hour * 3_600_000).toISOString())))
const anyKeep = fc.record({ daily: fc.nat(10), weekly: fc.nat(10), monthly: fc.nat(10) })
const anyZone = fc.constantFrom('UTC', 'Europe/Berlin', 'Pacific/Apia', 'Australia/Lord_Howe')

test('the newest run stays, pruning again removes nothing, and no more runs stay than were asked for', () => {
  fc.assert(
    fc.property(anyRuns, anyKeep, anyZone, (runs, how, zone) => {
      const first = left(runs, how, zone)
      const newest = runs.toSorted((a, b) => b.createdAtMs - a.createdAtMs).slice(0, 1)
      expect(first).toEqual(expect.arrayContaining(newest.map(({ name }) => name)))
      const kept = runs.filter(({ name }) => first.includes(name))
      expect(left(kept, how, zone)).toEqual(kept.map(({ name }) => name))
      const asked = how.daily + how.weekly + how.monthly
      expect(first.length).toBeLessThanOrEqual(asked > 0 ? asked : runs.length)
      expect(asked === 0 ? first.length : runs.length).toBe(runs.length)
    }),
  )
})

test('a higher number removes no run that a lower number keeps', () => {
  fc.assert(
    fc.property(anyRuns, anyKeep, anyZone, (runs, how, zone) => {
      if (how.daily + how.weekly + how.monthly === 0) return
      const more = left(runs, { ...how, weekly: how.weekly + 1 }, zone)
      expect(left(runs, how, zone).filter((name) => !more.includes(name))).toEqual([])
    }),
  )
})
