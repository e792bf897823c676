import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ArchiveNotes } from '../../../src/engine/archives/archive-notes.ts'
import { ArchiveSchedule, type ScheduleContext } from '../../../src/engine/archives/archive-schedule.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cursordex-schedule-'))
  // The cron library reads the clock itself.
  vi.useFakeTimers({ toFake: ['Date'] })
})
afterEach(() => {
  vi.useRealTimers()
  rmSync(folder, { recursive: true, force: true })
})

type Begin = ScheduleContext['archives']['begin']

/** A daemon's archives. A run takes no time, or as long as the test says. */
class World {
  readonly begun: string[] = []
  readonly warnings: string[] = []
  atWork = 0
  overlaps = 0
  fails: (count: number) => boolean = () => false
  /** Resolves the runs that are waiting. */
  release: (() => void) | null = null
  isHeldUp = false
  schedule: ArchiveSchedule
  readonly #job: { schedule: string; timezone: string | null; name: string }

  constructor(schedule: string, timezone: string | null = 'UTC', name = 'job') {
    this.#job = { schedule, timezone, name }
    this.schedule = this.restart()
  }

  /** Another daemon on the same data folder. */
  restart(): ArchiveSchedule {
    const notes = new ArchiveNotes(folder)
    const begin: Begin = () => {
      const at = new Date().toISOString()
      this.begun.push(at)
      if (this.atWork > 0) this.overlaps += 1
      this.atWork += 1
      const isFailing = this.fails(this.begun.length)
      const held = this.isHeldUp ? new Promise<void>((resolve) => (this.release = resolve)) : Promise.resolve()
      const made = held.then(() => {
        this.atWork -= 1
        if (isFailing) throw new Error('no')
        return { kind: 'run' as const, name: '', packed: 0, mended: [], leftOut: [], removed: [] }
      })
      return { run: {} as never, made }
    }
    const archives = { begin, list: () => [], notes, running: null, atWork: null }
    const jobs = [{ ...this.#job, scope: null, keep: { daily: 0, weekly: 0, monthly: 0 } }]
    const world = { now: Date.now, archives, zone: () => 'UTC', warn: (said: string) => void this.warnings.push(said) }
    this.schedule = new ArchiveSchedule(jobs, world)
    return this.schedule
  }

  /** Lets time pass, with a tick at each interval. */
  async pass(untilIso: string, stepMs = 10 * MINUTE_MS): Promise<void> {
    for (let now = Date.now(); now < Date.parse(untilIso);) {
      now = Math.min(now + stepMs, Date.parse(untilIso))
      vi.setSystemTime(now)
      this.schedule.tick()
      for (let turn = 0; turn < 6; turn += 1) await Promise.resolve()
    }
  }
}

const start = (iso: string): void => void vi.setSystemTime(Date.parse(iso))

const localHour = (iso: string, zone: string): string =>
  new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit' }).format(Date.parse(iso))

test.each(['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'UTC'])(
  'a nightly job runs once on each day of a year at three in %s, whatever the clocks do',
  async (zone) => {
    start('2026-01-01T12:00:00Z')
    const world = new World('0 3 * * *', zone)
    await world.pass('2027-01-01T12:00:00Z', 30 * MINUTE_MS)
    expect(world.begun).toHaveLength(365)
    // A quarter of an hour off, in one zone.
    expect(new Set(world.begun.map((iso) => localHour(iso, zone).slice(0, 2)))).toEqual(new Set(['03']))
    expect(world.overlaps).toBe(0)
  },
  60_000,
)

test('an hour that the clocks repeat in autumn does not run a job twice', async () => {
  start('2026-10-24T12:00:00Z')
  const world = new World('30 2 * * *', 'Europe/Berlin')
  await world.pass('2026-10-27T12:00:00Z')
  expect(world.begun.map((iso) => iso.slice(0, 10))).toEqual(['2026-10-25', '2026-10-26', '2026-10-27'])
})

test('runs that were missed while the machine slept are made up once', async () => {
  start('2026-02-01T12:00:00Z')
  const world = new World('0 3 * * *')
  await world.pass('2026-02-02T12:00:00Z')
  vi.setSystemTime(Date.parse('2026-02-20T09:17:00Z'))
  await world.pass('2026-02-21T12:00:00Z')
  expect(world.begun.map((iso) => iso.slice(0, 13))).toEqual(['2026-02-02T03', '2026-02-20T09', '2026-02-21T03'])
})

test('a run that was missed while the daemon was off is made up once, and a successful run is not repeated', async () => {
  start('2026-02-01T12:00:00Z')
  const world = new World('0 3 * * 0')
  await world.pass('2026-02-09T12:00:00Z')
  expect(world.begun).toHaveLength(1)
  world.restart()
  await world.pass('2026-02-10T12:00:00Z')
  expect(world.begun).toHaveLength(1)
  vi.setSystemTime(Date.parse('2026-03-03T12:00:00Z'))
  world.restart()
  await world.pass('2026-03-04T12:00:00Z')
  expect(world.begun.map((iso) => iso.slice(0, 10))).toEqual(['2026-02-08', '2026-03-03'])
})

test('a run that is still going at its next time does not overlap with it, and one run follows', async () => {
  start('2026-02-01T00:30:00Z')
  const world = new World('0 * * * *')
  world.isHeldUp = true
  await world.pass('2026-02-01T05:30:00Z')
  expect(world.begun).toHaveLength(1)
  world.isHeldUp = false
  world.release?.()
  await world.pass('2026-02-01T06:30:00Z')
  expect([world.begun.length, world.overlaps]).toEqual([3, 0])
})

test('a failed run is reported and repeated after growing waits, until a run succeeds', async () => {
  start('2026-02-01T02:00:00Z')
  const world = new World('0 3 * * 0')
  world.fails = (count) => count <= 4
  await world.pass('2026-02-01T03:21:00Z', MINUTE_MS)
  expect(world.schedule.health.failed).toMatchObject([{ job: 'job', failures: 3, error: 'no' }])
  await world.pass('2026-02-01T09:00:00Z', MINUTE_MS)
  const atMs = world.begun.map((iso) => Date.parse(iso))
  const waits = atMs.slice(1).map((ms, at) => (ms - (atMs[at] ?? 0)) / MINUTE_MS)
  expect(waits).toEqual([5, 10, 20, 40])
  expect(world.schedule.health.failed).toEqual([])
  await world.pass('2026-02-08T09:00:00Z')
  expect(world.begun).toHaveLength(6)
})

test('after a kill during a run the daemon repeats the run', async () => {
  start('2026-02-01T02:00:00Z')
  const world = new World('0 3 * * 0')
  world.isHeldUp = true
  await world.pass('2026-02-01T03:01:00Z', MINUTE_MS)
  world.isHeldUp = false
  world.atWork = 0
  world.restart()
  await world.pass('2026-02-01T04:00:00Z', MINUTE_MS)
  expect(world.begun).toHaveLength(2)
})

test('a job with a changed schedule uses the new one', async () => {
  start('2026-02-01T02:00:00Z')
  await new World('0 3 * * 0').pass('2026-02-01T02:30:00Z')
  const world = new World('0 5 * * *')
  await world.pass('2026-02-02T06:00:00Z')
  expect(world.begun.map((iso) => iso.slice(0, 13))).toEqual(['2026-02-01T05', '2026-02-02T05'])
})

test('the time of the next run is known at the start, not only after the first minute', async () => {
  start('2026-02-01T02:00:00Z')
  const world = new World('0 3 * * *')
  expect(world.schedule.health.nextRunAt).toBe('2026-02-01T03:00:00.000Z')
  expect(new ArchiveNotes(folder).job('job')).toBeNull()
  await world.pass('2026-02-01T02:10:00Z')
  expect(world.schedule.health.nextRunAt).toBe('2026-02-01T03:00:00.000Z')
  const changed = new World('0 5 * * *')
  expect(changed.schedule.health.nextRunAt).toBe('2026-02-01T05:00:00.000Z')
})

test('a job on a day that does not exist never runs, and blocks nothing', async () => {
  start('2026-02-01T02:00:00Z')
  const world = new World('0 0 31 2 *')
  expect(world.schedule.health.nextRunAt).toBeNull()
  await world.pass('2026-02-05T02:00:00Z', HOUR_MS)
  expect(world.begun).toEqual([])
  expect(world.schedule.health.nextRunAt).toBeNull()
})

test('lost notes do no harm', async () => {
  start('2026-02-01T02:00:00Z')
  const world = new World('0 3 * * *')
  await world.pass('2026-02-03T12:00:00Z')
  rmSync(join(folder, 'archives.json'))
  world.restart()
  await world.pass(new Date(Date.now() + 2 * DAY_MS).toISOString())
  expect(world.begun).toHaveLength(5)
})

test('after a run under a clock that was years ahead, the job stopped until that year', async () => {
  start('2026-02-01T02:00:00Z')
  const world = new World('0 3 * * *')
  await world.pass('2026-02-02T12:00:00Z')
  start('2037-02-02T12:01:00Z')
  await world.pass('2037-02-02T12:02:00Z', MINUTE_MS)
  expect(world.begun.at(-1)?.slice(0, 4)).toBe('2037')
  start('2026-02-02T12:03:00Z')
  expect(world.schedule.health.nextRunAt).toBe('2026-02-03T03:00:00.000Z')
  await world.pass('2026-02-04T12:00:00Z')
  expect(world.begun.slice(3).map((iso) => iso.slice(0, 13))).toEqual(['2026-02-03T03', '2026-02-04T03'])
})

test('after a failure under a clock that was years ahead, the run was not repeated until that year', async () => {
  start('2026-02-01T02:00:00Z')
  const world = new World('0 3 * * *')
  world.fails = (count) => count === 2
  await world.pass('2026-02-01T12:00:00Z')
  start('2037-02-02T12:01:00Z')
  await world.pass('2037-02-02T12:02:00Z', MINUTE_MS)
  start('2026-02-01T12:03:00Z')
  expect(world.schedule.health.failed).toEqual([])
  await world.pass('2026-02-02T12:00:00Z')
  expect(world.begun.slice(2).map((iso) => iso.slice(0, 13))).toEqual(['2026-02-02T03'])
})
