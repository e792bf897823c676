import { afterEach, beforeEach, expect, test } from 'vitest'
import { bodyOf, createTestApi, type TestApi } from '../http/test-api.ts'

let api: TestApi
beforeEach(() => {
  api = createTestApi()
})
afterEach(() => api.dispose())

test('one message with a wrong year does not spoil the statistics of all others', async () => {
  const chat = api.mirror.addChat({ id: 'c' })
  const times = { right: Date.UTC(2026, 2, 1, 10), alright: Date.UTC(2026, 2, 3, 10), wrong: Date.UTC(2101, 2, 1, 10) }
  for (const [id, createdAt] of Object.entries(times)) api.mirror.addMessage(chat, { id, role: 'user', createdAt })
  const answer = await bodyOf(await api.ask('/api/stats'))
  expect(answer).toMatchObject({ totals: { messages: 3 }, outOfSeries: { messages: 1 } })
  const starts = (answer['series'] as { readonly start: string }[]).map(({ start }) => start)
  expect(starts).toEqual(['2026-03-01', '2026-03-02', '2026-03-03'])
  const since = await bodyOf(await api.ask('/api/stats?from=2026-03-02'))
  expect(since).toMatchObject({
    totals: { messages: 2 },
    outOfSeries: { messages: 1 },
    series: [{ start: '2026-03-03' }],
  })
  // An explicit request for so many buckets is refused.
  expect((await api.ask('/api/stats?from=2026-01-01&to=2102')).status).toBe(400)
})
