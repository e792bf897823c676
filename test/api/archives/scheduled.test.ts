import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { ArchiveRun } from '../../../src/api/http/schemas/archives.ts'
import { headers } from '../../helpers/cursor.ts'
import { waitUntil } from '../../helpers/wait-until.ts'
import { World } from '../../helpers/world.ts'

const MINUTE_MS = 60_000
const zone = 'Europe/Berlin'

let world: World
beforeEach(async () => {
  // The cron library reads the clock itself.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-03-20T12:00:00Z') })
  world = await World.open({ config: { archives: { jobs } } })
  const store = world.home.global()
  for (const tree of ['plum', 'pear']) {
    store.chat(tree, { name: tree, fullConversationHeadersOnly: headers(['1']) })
    store.message(tree, '1', { type: 1, text: `${tree} tree` })
  }
  await world.sync()
})
afterEach(async () => {
  vi.useRealTimers()
  await world.remove()
})

/** In the night of 29 March 2026 the clocks of Berlin go from two to three. */
const jobs = [
  { name: 'nightly', schedule: '30 3 * * *', timezone: zone, keep: { daily: 3, weekly: 1, monthly: 0 } },
  {
    name: 'plums',
    schedule: '15 2 * * *',
    timezone: zone,
    scope: { q: 'plum' },
    keep: { daily: 0, weekly: 2, monthly: 0 },
  },
]

async function runs(): Promise<readonly ArchiveRun[]> {
  return (await world.get<{ items: ArchiveRun[] }>('/api/archives?limit=200')).items
}

/** One minute of the daemon, which waits for the runs that became due. */
async function tickAt(ms: number): Promise<void> {
  vi.setSystemTime(ms)
  world.engine.archiveSchedule.tick()
  await waitUntil('the runs', async () => (world.engine.archives.isBusy ? null : true), { everyMs: 1 })
  // The schedule notes the end of a run just after it.
  await new Promise((resolve) => setImmediate(resolve))
}

/** @returns the local times of the runs that each job began, as they were made */
async function pass(fromIso: string, untilIso: string): Promise<Record<string, string[]>> {
  const begun: Record<string, string[]> = { nightly: [], plums: [] }
  const known = new Set((await runs()).map(({ name }) => name))
  for (let ms = Date.parse(fromIso); ms <= Date.parse(untilIso); ms += 15 * MINUTE_MS) {
    await tickAt(ms)
    for (const run of await runs()) {
      if (known.has(run.name)) continue
      known.add(run.name)
      expect(run).toMatchObject({ state: 'verified', provenAt: new Date(ms).toISOString() })
      begun[run.job ?? '']?.push(localTime(ms))
    }
  }
  return begun
}

const localTime = (ms: number): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' }).format(ms)

test('two jobs run once when they are due, over a missing hour and a long sleep, are proven, and stay as keep says', async () => {
  expect(await pass('2026-03-27T22:00:00Z', '2026-03-30T10:00:00Z')).toEqual({
    nightly: ['2026-03-28 03:30', '2026-03-29 03:30', '2026-03-30 03:30'],
    // A quarter past two does not exist on the 29th.
    plums: ['2026-03-28 02:15', '2026-03-30 02:15'],
  })
  // The machine slept for a week. What was missed is made up once.
  expect(await pass('2026-04-06T06:00:00Z', '2026-04-07T06:00:00Z')).toEqual({
    nightly: ['2026-04-06 08:00', '2026-04-07 03:30'],
    plums: ['2026-04-06 08:00', '2026-04-07 02:15'],
  })
  const left = await runs()
  const of = (job: string): (string | undefined)[] =>
    left.filter((run) => run.job === job).map((run) => run.createdAt?.slice(0, 10))
  // The newest of the last three days that have one, and of the last two weeks.
  expect(of('nightly')).toEqual(['2026-04-07', '2026-04-06', '2026-03-30'])
  expect(of('plums')).toEqual(['2026-04-07', '2026-03-30'])
  expect(new Set(left.map(({ job, chats }) => `${job} ${chats}`))).toEqual(new Set(['nightly 2', 'plums 1']))
  const { name } = left[0] ?? { name: '' }
  expect(await world.post(`/api/archives/${name}/verify`)).toMatchObject({ ok: true, leftovers: [], damaged: [] })
  expect(await world.get('/api/status')).toMatchObject({
    archives: { failed: [], nextRunAt: '2026-04-08T00:15:00.000Z', lastRunAt: left[0]?.createdAt },
  })
})
