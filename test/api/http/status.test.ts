import { afterEach, beforeEach, expect, it } from 'vitest'
import { createTestApi, type TestApi, bodyOf } from './test-api.ts'
import type { DaemonState } from '../../../src/api/http/schemas/status.ts'

let api: TestApi
beforeEach(() => {
  api = createTestApi()
})
afterEach(() => api.dispose())

it('the first status that says "ready" has new counts, not cached ones', async () => {
  let state: DaemonState = 'indexing'
  let nowMs = 0
  const live = { reasons: [], uptimeMs: 5, progress: null, lagMs: null, mirrorPath: '/nowhere/mirror.db' }
  const resources = { rssBytes: 1, cpuPercent: 2, longestReadMs: 3, bytesRead: 4, bytesReadLastMinute: 5 }
  // The clock advances 400 ms per reading: counting seems slow, and so its result is cached.
  const daemon = createTestApi({ now: () => (nowMs += 400), live: () => ({ ...live, resources, state }) })
  const status = async () => bodyOf(await daemon.ask('/api/status'))
  expect(await status()).toMatchObject({ state: 'indexing', counts: { chats: 0, messages: 0 } })
  daemon.mirror.addMessage(daemon.mirror.addChat({ id: 'a' }), { id: '1' })
  expect(await status()).toMatchObject({ state: 'indexing', counts: { messages: 0 } })
  state = 'ready'
  expect(await status()).toMatchObject({ state: 'ready', counts: { chats: 1, messages: 1 } })
  daemon.dispose()
})
