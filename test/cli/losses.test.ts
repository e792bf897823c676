import { afterEach, beforeEach, expect, test } from 'vitest'
import { headers } from '../helpers/cursor.ts'
import { Workplace } from '../helpers/spawn-cursordex.ts'
import { Paper, run } from './fake-world.ts'

const message = {
  at: '2026-02-19T20:30:00.000Z',
  kind: 'message',
  chatId: 'c1',
  messageId: 'm1',
  project: { id: 'p1', name: 'shop' },
  title: 'Fix\tthe \u001b[31mlogin\u202e',
}
const chat = { ...message, kind: 'chat', chatId: 'c2', messageId: null, project: null }
const page = { items: [message, chat], total: 2, limit: 20, offset: 0 }
const lost = { messages: 1, chats: 2, lastAt: '2026-02-19T20:30:00.000Z' }
const status = {
  state: 'ready',
  reasons: [],
  version: '1',
  uptimeMs: 1,
  progress: null,
  sources: [],
  counts: {},
  issues: {},
  coverage: {},
  mirror: { path: '/d', bytes: 1 },
}

test('losses sends its filters', async () => {
  const argv = [
    'losses',
    '--project',
    'a',
    '--project',
    'b',
    '--from',
    '2026-01-01',
    '--to',
    '2026-02-01',
    '--tz',
    'UTC',
  ]
  const { calls, exitCode } = await run([...argv, '--limit', '5', '--offset', '10'], () => page)
  expect(exitCode).toBe(0)
  expect(calls.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /api/losses'])
  expect([...new URLSearchParams(calls[0]?.query)].map((pair) => pair.join('='))).toEqual(
    expect.arrayContaining([
      'project=a',
      'project=b',
      'from=2026-01-01',
      'to=2026-02-01',
      'tz=UTC',
      'limit=5',
      'offset=10',
    ]),
  )
})

test('losses prints one row each, with local time first and without control characters', async () => {
  const { out } = await run(['losses'], () => page)
  expect(out).toBe(
    [
      '2026-02-20 05:30\tmessage\tshop\tFix the \\x1b[31mlogin\\u202e\tc1\tm1',
      '2026-02-20 05:30\tchat\t-\tFix the \\x1b[31mlogin\\u202e\tc2\t-',
      '',
    ].join('\n'),
  )
})

test.each([
  [200, ['noticed', 'project', 'message id']],
  [100, ['noticed', 'chat id']],
  [80, ['kind', 'title', 'chat id']],
])('losses on a terminal of %i columns shows a head and short ids of chats', async (width, heads) => {
  const stdout = new Paper(width)
  await run(['losses'], () => ({ ...page, total: 9 }), { stdout })
  for (const head of heads) expect(stdout.text).toContain(head)
  expect(stdout.text).toContain('c2')
  expect(stdout.text).not.toContain('\u001b[31m')
})

test('losses --json prints the answer unchanged, with control characters escaped', async () => {
  const { out } = await run(['losses', '--json'], () => page)
  expect(JSON.parse(out)).toEqual(page)
  for (const order of ['\u001b', '\u202e']) expect(out).not.toContain(order)
})

test('losses says on stderr that nothing was lost', async () => {
  const { out, err } = await run(['losses'], () => ({ ...page, items: [], total: 0 }))
  expect([out, err]).toEqual(['', 'Nothing was lost.\n'])
})

test.each([
  [lost, 'deleted    2 chats and 1 message in Cursor, still here; last noticed 2026-02-20 05:30\n'],
  [{ ...lost, chats: 0 }, 'deleted    1 message in Cursor, still here; last noticed 2026-02-20 05:30\n'],
  [{ messages: 0, chats: 0, lastAt: null }, 'deleted    nothing\n'],
])('status shows %j in one line', async (losses, line) => {
  expect((await run(['status'], () => ({ ...status, losses }))).out).toContain(line)
})

let place: Workplace
beforeEach(() => {
  place = new Workplace()
})
afterEach(() => place.remove())

test('losses prints the same with and without a daemon', async () => {
  const store = place.cursor.global()
  store.chat('a', { name: 'About a', createdAt: 1, fullConversationHeadersOnly: headers(['m1', 'm2']) })
  for (const id of ['m1', 'm2']) store.message('a', id, { type: 1, text: `${id} of a` })
  expect((await place.run(['sync'])).exitCode).toBe(0)
  store.delete('bubbleId:a:m2')
  expect((await place.run(['sync'])).exitCode).toBe(0)
  const alone = await place.run(['losses', '--json'])
  expect(JSON.parse(alone.stdout)).toMatchObject({
    items: [{ kind: 'message', chatId: 'a', messageId: 'm2', project: null, title: 'About a' }],
    total: 1,
  })
  await place.serve()
  expect((await place.run(['losses', '--json'])).stdout).toBe(alone.stdout)
  expect((await place.run(['losses', '--to', '2020-01-01'])).stderr).toContain('Nothing was lost.')
})
