import { afterEach, describe, expect, test } from 'vitest'
import { unreadText } from '../../../src/api/http/unread.ts'
import type { LiveState, Progress } from '../../../src/api/http/api-context.ts'
import { bodyOf, createTestWorld, live, type TestWorld } from './test-world.ts'

const reading: Progress = { stage: 'reading', done: 1000, total: 5000, bytesPerSecond: null, etaMs: null }
const LEFT = `4000 rows of Cursor's are missing here: they are still being read. See "cursordex status".`

let world: TestWorld | null = null
afterEach(() => world?.dispose())

/** A daemon that holds one chat, in this state. */
function daemonIn(state: Pick<LiveState, 'state' | 'progress'> & { readonly wasAllRead?: boolean }): TestWorld {
  world = createTestWorld({ live: () => ({ ...live, ...state }) })
  const chat = world.mirror.addChat({ id: 'talk', title: 'Login', messageCount: 1 })
  world.mirror.addMessage(chat, { id: 'm0', position: 0 })
  return world
}

describe('while a large store is read for the first time', () => {
  test('a search that finds nothing says that it did not look through all', async () => {
    const answer = await bodyOf(await daemonIn({ state: 'indexing', progress: reading }).ask('/api/search?q=walnut'))
    expect(answer).toMatchObject({ total: 0, totalIsExact: false, warnings: [LEFT] })
  })

  test.each(['chats', 'chats/talk', 'projects', 'stats', 'tokens', 'losses'])(
    '%s says beside its answer that some is missing',
    async (path) => {
      const response = await daemonIn({ state: 'indexing', progress: reading }).ask(`/api/${path}`)
      expect([response.status, response.headers.get('cursordex-unread')]).toEqual([200, LEFT])
    },
  )
})

test.each([
  ['nothing', { state: 'ready', progress: null }],
  ['an agent at work', { state: 'indexing', progress: { ...reading, done: 0, total: 40 }, wasAllRead: true }],
  ['the step before such a pass tells of rows', { state: 'indexing', progress: null, wasAllRead: true }],
  ['indexing what was read', { state: 'indexing', progress: { ...reading, stage: 'indexing' } }],
] as const)('at %s nothing is said to be missing', async (_, state) => {
  const daemon = daemonIn(state)
  expect(await bodyOf(await daemon.ask('/api/search?q=walnut'))).toMatchObject({ totalIsExact: true, warnings: [] })
  expect((await daemon.ask('/api/chats')).headers.get('cursordex-unread')).toBeNull()
})

test.each([
  ['a daemon that has just begun', { state: 'starting', progress: null }],
  ['a daemon that does not know yet how much there is', { state: 'indexing', progress: null }],
  [
    'a second profile, read while the first one is indexed',
    { state: 'indexing', progress: { ...reading, stage: 'indexing' } },
  ],
  ['a second profile, smaller than the first one', { state: 'indexing', progress: { ...reading, done: 5000 } }],
  ['a disk that is full amid it', { state: 'degraded', progress: null }],
] as const)('before all was read once, at %s, it is said that some is missing', (_, state) => {
  expect(unreadText({ ...live, ...state, wasAllRead: false })).toBe(
    'Some of what Cursor holds is missing here: it is not read yet.',
  )
})

test('a daemon that has no stores to read says nothing of missing ones', () => {
  expect(unreadText({ ...live, state: 'ready', progress: null, wasAllRead: false })).toBeNull()
})
