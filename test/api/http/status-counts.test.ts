import { afterEach, beforeEach, expect, it } from 'vitest'
import type { DaemonState } from '../../../src/api/http/api-context.ts'
import { bodyOf, createTestWorld, type TestWorld } from './test-world.ts'

let world: TestWorld
let state: DaemonState
beforeEach(() => {
  state = 'indexing'
  let nowMs = 0
  const live = { reasons: [], uptimeMs: 5, progress: null, lagMs: null, mirrorPath: '/nowhere/mirror.db' }
  const resources = { rssBytes: 1, cpuPercent: 2, longestReadMs: 3, bytesRead: 4, bytesReadLastMinute: 5 }
  // Every look at the clock is 400 ms later: counting is slow, and what is slow is kept.
  world = createTestWorld({ now: () => (nowMs += 400), live: () => ({ ...live, resources, state }) })
})
afterEach(() => world.dispose())

const status = async () => bodyOf(await world.ask('/api/status'))

it('a status that says "ready" for the first time does not count what was there before', async () => {
  expect(await status()).toMatchObject({ state: 'indexing', counts: { chats: 0, messages: 0 } })
  world.mirror.addMessage(world.mirror.addChat({ id: 'a' }), { id: '1' })
  expect(await status()).toMatchObject({ state: 'indexing', counts: { messages: 0 } })
  state = 'ready'
  expect(await status()).toMatchObject({ state: 'ready', counts: { chats: 1, messages: 1 } })
})
