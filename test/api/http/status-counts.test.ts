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
  // The clock advances 400 ms per reading: counting seems slow, and so its result is cached.
  world = createTestWorld({ now: () => (nowMs += 400), live: () => ({ ...live, resources, state }) })
})
afterEach(() => world.dispose())

const status = async () => bodyOf(await world.ask('/api/status'))

it('the first status that says "ready" has new counts, not cached ones', async () => {
  expect(await status()).toMatchObject({ state: 'indexing', counts: { chats: 0, messages: 0 } })
  world.mirror.addMessage(world.mirror.addChat({ id: 'a' }), { id: '1' })
  expect(await status()).toMatchObject({ state: 'indexing', counts: { messages: 0 } })
  state = 'ready'
  expect(await status()).toMatchObject({ state: 'ready', counts: { chats: 1, messages: 1 } })
})
