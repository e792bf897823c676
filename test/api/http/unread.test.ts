import { afterEach, describe, expect, test } from 'vitest'
import type { LiveState } from '../../../src/api/context.ts'
import { bodyOf, createTestApi, live, type TestApi } from './test-api.ts'
import type { Progress } from '../../../src/api/answers/status.ts'

const reading: Progress = { stage: 'reading', done: 1000, total: 5000, bytesPerSecond: null, etaMs: null }
const LEFT = `4000 rows of Cursor's stores are missing here: they are still being read. See "cursordex status".`

let api: TestApi | null = null
afterEach(() => api?.dispose())

/** A daemon with one chat, in this state. */
function daemonIn(state: Pick<LiveState, 'state' | 'progress'> & { readonly wasAllRead?: boolean }): TestApi {
  api = createTestApi({ live: () => ({ ...live, ...state }) })
  const chat = api.mirror.addChat({ id: 'talk', title: 'Login', messageCount: 1 })
  api.mirror.addMessage(chat, { id: 'm0', position: 0 })
  return api
}

describe('while a large store is read for the first time', () => {
  test('a search without hits says that it did not search everything', async () => {
    const answer = await bodyOf(await daemonIn({ state: 'indexing', progress: reading }).ask('/api/search?q=walnut'))
    expect(answer).toMatchObject({ total: 0, totalIsExact: false, warnings: [LEFT] })
  })

  test.each(['chats', 'chats/talk', 'projects', 'stats', 'tokens', 'losses'])(
    'the answer of %s has a header that says that rows are missing',
    async (path) => {
      const response = await daemonIn({ state: 'indexing', progress: reading }).ask(`/api/${path}`)
      expect([response.status, response.headers.get('cursordex-unread')]).toEqual([200, LEFT])
    },
  )
})

test.each([
  ['nothing', { state: 'ready', progress: null }],
  ['an agent at work', { state: 'indexing', progress: { ...reading, done: 0, total: 40 }, wasAllRead: true }],
  ['the start of such a pass, before its progress is known', { state: 'indexing', progress: null, wasAllRead: true }],
  ['indexing after everything was read', { state: 'indexing', progress: { ...reading, stage: 'indexing' } }],
] as const)('there is no warning during %s', async (_, state) => {
  const daemon = daemonIn(state)
  expect(await bodyOf(await daemon.ask('/api/search?q=walnut'))).toMatchObject({ totalIsExact: true, warnings: [] })
  expect((await daemon.ask('/api/chats')).headers.get('cursordex-unread')).toBeNull()
})

test.each([
  ['at the start of the daemon', { state: 'starting', progress: null }],
  ['before the number of rows is known', { state: 'indexing', progress: null }],
  [
    'while a second profile is read and the first one is indexed',
    { state: 'indexing', progress: { ...reading, stage: 'indexing' } },
  ],
  [
    'while a second profile is read that is smaller than the first one',
    { state: 'indexing', progress: { ...reading, done: 5000 } },
  ],
  ['if the disk is full', { state: 'degraded', progress: null }],
] as const)('before everything was read once, there is a warning %s', async (_, state) => {
  const response = await daemonIn({ ...state, wasAllRead: false }).ask('/api/chats')
  expect(response.headers.get('cursordex-unread')).toBe(
    "Some of Cursor's data is missing here: it has not been read yet.",
  )
})
