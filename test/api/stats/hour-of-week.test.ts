import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Stats } from '../../../src/api/http/schemas/stats.ts'
import { bodyOf, createTestApi, type TestApi } from '../http/test-api.ts'

let api: TestApi
beforeEach(() => {
  api = createTestApi()
})
afterEach(() => api.dispose())

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

/** The hours with messages, such as `Mon 23: 1`. */
async function busyHours(query: string): Promise<string[]> {
  const { byHourOfWeek } = (await bodyOf(await api.ask(`/api/stats?${query}`))) as unknown as Stats
  expect(byHourOfWeek.map(({ length }) => length)).toEqual([24, 24, 24, 24, 24, 24, 24])
  return byHourOfWeek.flatMap((hours, day) =>
    hours.flatMap((messages, hour) => (messages === 0 ? [] : [`${WEEKDAYS[day]} ${hour}: ${messages}`])),
  )
}

function addMessages(...times: readonly (number | null)[]): void {
  const chat = api.mirror.addChat({ id: 'c' })
  for (const [index, createdAt] of times.entries()) {
    api.mirror.addMessage(chat, { id: `m${index}`, role: 'user', createdAt })
  }
}

test('a message late on Monday in UTC belongs to Tuesday in Berlin and to Monday in New York', async () => {
  addMessages(Date.UTC(2026, 2, 2, 23, 30))
  expect(await busyHours('tz=UTC')).toEqual(['Mon 23: 1'])
  expect(await busyHours('tz=Europe/Berlin')).toEqual(['Tue 0: 1'])
  expect(await busyHours('tz=America/New_York')).toEqual(['Mon 18: 1'])
})

test('Sunday is followed by Monday, and the clock change moves the hour', async () => {
  // Berlin changed its clocks on 29 March 2026.
  addMessages(Date.UTC(2026, 2, 22, 23, 30), Date.UTC(2026, 2, 29, 22, 30), Date.UTC(2026, 2, 30, 22, 30))
  expect(await busyHours('tz=Europe/Berlin')).toEqual(['Mon 0: 2', 'Tue 0: 1'])
})

test('the same hour of two weeks is added up, and a message without a time is in no hour', async () => {
  addMessages(Date.UTC(2026, 2, 4, 10), Date.UTC(2026, 2, 11, 10, 59), null)
  expect(await busyHours('tz=UTC')).toEqual(['Wed 10: 2'])
  expect(await busyHours('tz=UTC&from=2026-03-05')).toEqual(['Wed 10: 1'])
})

test('without messages all counts are 0', async () => {
  expect(await busyHours('tz=UTC')).toEqual([])
})
