import { afterEach, expect, test } from 'vitest'
import type { Stats } from '../../../src/api/answers/stats.ts'
import { headers } from '../../helpers/cursor.ts'
import { World } from '../../helpers/world.ts'

let world: World
afterEach(() => world.remove())

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

/** The hours with messages, such as `Mon 23: 1`. */
async function busyHours(query: string): Promise<string[]> {
  const { byHourOfWeek } = await world.get<Stats>(`/api/stats?${query}`)
  expect(byHourOfWeek.map(({ length }) => length)).toEqual([24, 24, 24, 24, 24, 24, 24])
  return byHourOfWeek.flatMap((hours, day) =>
    hours.flatMap((messages, hour) => (messages === 0 ? [] : [`${WEEKDAYS[day]} ${hour}: ${messages}`])),
  )
}

/** A chat for each time. */
async function saidAt(...times: readonly string[]): Promise<void> {
  world = await World.open()
  const store = world.home.global()
  for (const [index, createdAt] of times.entries()) {
    store.chat(`c${index}`, { fullConversationHeadersOnly: headers(['m']) })
    store.message(`c${index}`, 'm', { type: 1, text: 'said', createdAt })
  }
  await world.sync()
}

test('a message late on Monday in UTC belongs to Tuesday in Berlin and to Monday in New York', async () => {
  await saidAt('2026-03-02T23:30:00.000Z')
  expect(await busyHours('tz=UTC')).toEqual(['Mon 23: 1'])
  expect(await busyHours('tz=Europe/Berlin')).toEqual(['Tue 0: 1'])
  expect(await busyHours('tz=America/New_York')).toEqual(['Mon 18: 1'])
})

test('Sunday is followed by Monday, and the clock change moves the hour', async () => {
  // Berlin changed its clocks on 29 March 2026.
  await saidAt('2026-03-22T23:30:00.000Z', '2026-03-29T22:30:00.000Z', '2026-03-30T22:30:00.000Z')
  expect(await busyHours('tz=Europe/Berlin')).toEqual(['Mon 0: 2', 'Tue 0: 1'])
})

test('the same hour of two weeks is added up', async () => {
  await saidAt('2026-03-04T10:00:00.000Z', '2026-03-11T10:59:00.000Z')
  expect(await busyHours('tz=UTC')).toEqual(['Wed 10: 2'])
  expect(await busyHours('tz=UTC&from=2026-03-05')).toEqual(['Wed 10: 1'])
})

test('one message with a wrong year does not spoil the statistics of all others', async () => {
  await saidAt('2026-03-01T10:00:00.000Z', '2026-03-03T10:00:00.000Z', '2098-03-01T10:00:00.000Z')
  const { totals, outOfSeries, series } = await world.get<Stats>('/api/stats')
  expect([totals.messages, outOfSeries.messages]).toEqual([3, 1])
  expect(series.map(({ start }) => start)).toEqual(['2026-03-01', '2026-03-02', '2026-03-03'])
  expect((await world.get<Stats>('/api/stats?from=2026-03-02&to=2099')).series).toHaveLength(1)
})
