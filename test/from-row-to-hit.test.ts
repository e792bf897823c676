import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CursorHome, headers, type Store } from './helpers/cursor.ts'
import { RunningDaemon } from './helpers/running-daemon.ts'
import { Cursordex } from './helpers/spawn-cursordex.ts'
import { waitUntil } from './helpers/wait-until.ts'

let home: CursorHome
let cursor: Store
let daemon: RunningDaemon

beforeAll(async () => {
  home = new CursorHome()
  cursor = home.global()
  cursor.item('cursorAuth/accessToken', 'SECRET-TOKEN')
  home.workspace('ws', { folder: 'file:///home/ada/shop' }, ['checkout'])
  daemon = await RunningDaemon.start({ userDirs: [home.userDir] })
  await daemon.waitReady()
})

afterAll(async () => {
  await daemon.stop()
  home.remove()
})

interface Answer {
  readonly total: number
  readonly items: readonly Record<string, unknown>[]
}

const search = (q: string): Promise<Answer> => daemon.get<Answer>(`/api/search?q=${encodeURIComponent(q)}`)

test('a row of Cursor is found by its words, follows all changes, and stays after Cursor deletes it', async () => {
  // Cursor, in another process, starts a chat: the user asks, the assistant thinks and calls a tool.
  const ids = ['ask', 'work']
  cursor.chat('checkout', {
    name: 'Rounding at the checkout',
    createdAt: Date.parse('2026-03-01T10:00:00Z'),
    fullConversationHeadersOnly: headers(ids),
  })
  cursor.message('checkout', 'ask', {
    type: 1,
    text: 'Why does computeTotalPrice <b>round</b> 四捨五入 twice?',
    createdAt: '2026-03-01T10:00:01.000Z',
  })
  cursor.message('checkout', 'work', {
    type: 2,
    thinking: { text: 'Perhaps the basket rounds as well', signature: 'SECRET-SIGNATURE' },
    toolFormerData: {
      name: 'read_file',
      toolCallId: 'call-1',
      status: 'completed',
      params: JSON.stringify({ targetFile: 'src/basket.ts' }),
      result: JSON.stringify({ contents: 'export const roundHalfUp = 1' }),
    },
    createdAt: '2026-03-01T10:00:05.000Z',
  })

  // It is found by another spelling of the identifier, in its project, with escaped markup.
  const first = await waitUntil('the first hit', async () => (await search('compute_total_price')).items[0])
  expect(first).toMatchObject({
    message: { id: 'ask', chatId: 'checkout', position: 0, role: 'user', createdAt: '2026-03-01T10:00:01.000Z' },
    part: 'text',
    chat: { title: 'Rounding at the checkout' },
    project: { name: 'shop' },
    snippet: 'Why does <mark>computeTotalPrice</mark> &lt;b&gt;round&lt;/b&gt; 四捨五入 twice?',
  })
  expect((await search('捨五')).total).toBe(1)
  expect((await search('"round half up"')).items[0]).toMatchObject({ part: 'tool', toolName: 'read_file' })
  expect((await search('basket rounds')).items[0]).toMatchObject({ message: { id: 'work' }, part: 'thinking' })

  // The command line gives the same answer.
  const typed = await new Cursordex(['search', 'computeTotalPrice', '--json', '--data-dir', daemon.dataDir]).ended
  expect(typed.exitCode).toBe(0)
  expect((JSON.parse(typed.stdout) as Answer).items).toMatchObject([{ message: { id: 'ask' } }])

  // The answer is streamed: one message is rewritten many times.
  cursor.chat('checkout', {
    name: 'Rounding at the checkout',
    fullConversationHeadersOnly: headers([...ids, 'answer']),
  })
  for (let turn = 1; turn <= 20; turn += 1) {
    cursor.message('checkout', 'answer', { type: 2, text: `Because draft${'x'.repeat(turn)} of the answer` })
  }
  cursor.message('checkout', 'answer', { type: 2, text: 'Because both banker and basket round it' })
  await waitUntil('the last words', async () => (await search('banker')).total === 1)
  expect((await search('draft*')).total).toBe(0)

  // The thread has the same order as in Cursor.
  const thread = await daemon.get<Answer>('/api/chats/checkout/messages')
  expect(thread.items).toMatchObject([
    { id: 'ask', position: 0, createdAtSource: 'message' },
    {
      id: 'work',
      position: 1,
      parts: [
        { kind: 'thinking', text: 'Perhaps the basket rounds as well' },
        { kind: 'tool', name: 'read_file', status: 'completed', input: { targetFile: 'src/basket.ts' } },
      ],
    },
    { id: 'answer', position: 2, createdAt: '2026-03-01T10:00:05.000Z', createdAtSource: 'neighbour' },
  ])
  // Counts of 0 are no record. There may be an estimate by now.
  expect(JSON.stringify(thread)).not.toContain('"recorded"')

  // Cursor deletes the chat. The mirror keeps it, marks it, and finds it.
  cursor.db.exec(`delete from cursorDiskKV`)
  // A nudge may be faster, so that the sync finds nothing: the status shows what is gone.
  await daemon.post('/api/sync', { full: true })
  expect(await daemon.get('/api/chats/checkout')).toMatchObject({ deletedInCursor: true, messageCount: 3 })
  expect((await search('banker')).total).toBe(1)
  expect(await daemon.get('/api/status')).toMatchObject({
    state: 'ready',
    counts: { chats: 1, messages: 3, deleted: 3 },
  })

  // Nothing that must not be read is in the mirror or the log.
  const files = readdirSync(daemon.dataDir).map((name) => join(daemon.dataDir, name))
  expect(files.filter((path) => readFileSync(path).includes('banker'))).not.toEqual([])
  expect(files.filter((path) => readFileSync(path).includes('SECRET-'))).toEqual([])
})
