import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { ArchiveHealth, ArchiveRun } from '../../../src/api/answers/archives.ts'
import { headers } from '../../helpers/cursor.ts'
import { World } from '../../helpers/world.ts'

const MINUTE_MS = 60_000
const zone = 'Europe/Berlin'

// The cron library reads the clock itself.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))

let world: World
afterEach(async () => {
  vi.useRealTimers()
  await world.remove()
})

interface Job {
  readonly name: string
  readonly schedule: string
  readonly scope?: unknown
  readonly keep?: object
}

async function open(nowIso: string, given: readonly Job[]): Promise<void> {
  vi.setSystemTime(Date.parse(nowIso))
  const keep = { daily: 0, weekly: 0, monthly: 0 }
  const jobs = given.map((job) => ({ timezone: zone, keep, ...job }))
  world = await World.open({ config: { archives: { jobs } } })
  const store = world.home.global()
  for (const tree of ['plum', 'pear']) {
    store.chat(tree, { name: tree, fullConversationHeadersOnly: headers(['1']) })
    store.message(tree, '1', { type: 1, text: `${tree} tree` })
  }
  await world.sync()
}

async function runs(): Promise<readonly ArchiveRun[]> {
  return (await world.get<{ items: ArchiveRun[] }>('/api/archives?limit=200')).items
}

async function health(): Promise<ArchiveHealth> {
  return (await world.get<{ archives: ArchiveHealth }>('/api/status')).archives
}

const localTime = (ms: number): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' }).format(ms)

/**
 * The ticks of a daemon, each of which waits for the runs that became due. A tick that finds nothing due would find the
 * same a minute later, so most minutes are left out.
 * @returns the local times at which runs began, each with its job
 */
async function pass(fromIso: string, untilIso: string, stepMs = 15 * MINUTE_MS): Promise<string[]> {
  const begun: string[] = []
  const known = new Set((await runs()).map(({ name }) => name))
  for (let ms = Date.parse(fromIso); ms <= Date.parse(untilIso); ms += stepMs) {
    vi.setSystemTime(ms)
    world.engine.archives().schedule.tick()
    await world.engine.archives().alone(async () => undefined)
    // The schedule notes the end of a run just after it.
    await new Promise((resolve) => setImmediate(resolve))
    for (const { name, job, state, provenAt } of await runs()) {
      if (known.has(name)) continue
      known.add(name)
      begun.push(`${localTime(ms)} ${job}`)
      expect(provenAt).toBe(state === 'failed' ? null : new Date(ms).toISOString())
    }
  }
  return begun.sort()
}

test('two jobs run once when they are due, over a missing hour and a long sleep, are proven, and stay as keep says', async () => {
  // In the night of 29 March 2026 the clocks of Berlin go from two to three.
  await open('2026-03-27T22:00:00Z', [
    { name: 'nightly', schedule: '30 3 * * *', keep: { daily: 3, weekly: 1, monthly: 0 } },
    { name: 'plums', schedule: '15 2 * * *', scope: 'plum', keep: { daily: 0, weekly: 2, monthly: 0 } },
  ])
  expect(await pass('2026-03-27T22:00:00Z', '2026-03-30T10:00:00Z')).toEqual([
    '2026-03-28 02:15 plums',
    '2026-03-28 03:30 nightly',
    // A quarter past two does not exist on the 29th.
    '2026-03-29 03:30 nightly',
    '2026-03-30 02:15 plums',
    '2026-03-30 03:30 nightly',
  ])
  // The machine slept for a week. What was missed is made up once.
  expect(await pass('2026-04-06T06:00:00Z', '2026-04-07T06:00:00Z')).toEqual([
    '2026-04-06 08:00 nightly',
    '2026-04-06 08:00 plums',
    '2026-04-07 02:15 plums',
    '2026-04-07 03:30 nightly',
  ])
  const left = await runs()
  const of = (job: string): (string | undefined)[] =>
    left.filter((run) => run.job === job).map((run) => run.createdAt?.slice(0, 10))
  // The newest of the last three days that have one, and of the last two weeks.
  expect(of('nightly')).toEqual(['2026-04-07', '2026-04-06', '2026-03-30'])
  expect(of('plums')).toEqual(['2026-04-07', '2026-03-30'])
  expect(new Set(left.map(({ job, chats }) => `${job} ${chats}`))).toEqual(new Set(['nightly 2', 'plums 1']))
  const verdict = await world.post(`/api/archives/${left[0]?.name}/verify`)
  expect(verdict).toMatchObject({ ok: true, damaged: [], unexpected: [] })
  const lastRunAt = left[0]?.createdAt
  expect(await health()).toMatchObject({ failed: [], nextRunAt: '2026-04-08T00:15:00.000Z', lastRunAt })
})

test('an hour that the clocks repeat runs a job once', async () => {
  await open('2026-10-24T12:00:00Z', [{ name: 'nightly', schedule: '30 2 * * *' }])
  expect(await pass('2026-10-24T12:00:00Z', '2026-10-26T12:00:00Z')).toEqual([
    '2026-10-25 02:30 nightly',
    '2026-10-26 02:30 nightly',
  ])
})

test('a run that the daemon missed is made up once after its start', async () => {
  await open('2026-02-01T12:00:00Z', [{ name: 'weekly', schedule: '0 3 * * 0' }])
  expect((await health()).nextRunAt).toBe('2026-02-08T02:00:00.000Z')
  expect(await pass('2026-02-07T22:00:00Z', '2026-02-08T12:00:00Z')).toEqual(['2026-02-08 03:00 weekly'])
  await world.restart()
  expect(await pass('2026-02-08T12:00:00Z', '2026-02-08T18:00:00Z')).toEqual([])
  await world.restart()
  expect(await pass('2026-03-03T12:00:00Z', '2026-03-03T18:00:00Z')).toEqual(['2026-03-03 13:00 weekly'])
})

test('a failed run is told and repeated after growing waits, until a run succeeds', async () => {
  await open('2026-02-08T01:00:00Z', [{ name: 'weekly', schedule: '0 3 * * 0' }])
  const { dir } = world.settings.archives
  writeFileSync(dir, 'in the way')
  expect(await pass('2026-02-08T01:59:00Z', '2026-02-08T02:20:00Z', MINUTE_MS)).toEqual([
    '2026-02-08 03:00 weekly',
    '2026-02-08 03:05 weekly',
    '2026-02-08 03:15 weekly',
  ])
  expect((await health()).failed).toMatchObject([{ job: 'weekly', failures: 3, retryAt: '2026-02-08T02:35:00.000Z' }])
  rmSync(dir)
  mkdirSync(dir)
  expect(await pass('2026-02-08T02:21:00Z', '2026-02-08T03:00:00Z', MINUTE_MS)).toEqual(['2026-02-08 03:35 weekly'])
  expect((await health()).failed).toEqual([])
})

test('a clock that was years ahead stops no job until that year', async () => {
  await open('2026-02-01T12:00:00Z', [{ name: 'nightly', schedule: '0 3 * * *' }])
  expect(await pass('2037-02-02T12:00:00Z', '2037-02-02T12:01:00Z')).toEqual([])
  expect(await pass('2037-02-03T12:00:00Z', '2037-02-03T12:01:00Z')).toEqual(['2037-02-03 13:00 nightly'])
  expect(await pass('2026-02-01T12:00:00Z', '2026-02-02T12:00:00Z')).toEqual(['2026-02-02 03:00 nightly'])
})
