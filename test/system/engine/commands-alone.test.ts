import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillStore, wordOf } from '../../helpers/fill-store.ts'
import { takeLock } from '../../../src/engine/lock.ts'
import { STOP_MS_MAX, Workplace } from '../../helpers/spawn-cursordex.ts'

// What commands do without a daemon: each opens the engine in its own process.
const place = new Workplace()
const CHATS = 3
const MESSAGES = 4
const usage = join(place.root, 'usage.csv')

beforeAll(() => {
  fillStore(place.cursor.global(), { chats: CHATS, messagesPerChat: MESSAGES })
  writeFileSync(
    usage,
    'Date,Kind,Model,Max Mode,Input (w/ Cache Write),Input (w/o Cache Write),Cache Read,Output Tokens,Total Tokens,Cost\n' +
      '"2025-11-04T10:00:00.000Z","Included","claude-4.5-sonnet","No","10","20","30","40","100","0.05"\n',
  )
})
afterAll(() => place.remove())

const id = 'chat-1'
const some = expect.anything()

/** In this order: the words, the exit code, and what the answer has. */
const table: readonly (readonly [argv: readonly string[], exitCode: number, answer: unknown])[] = [
  [['sync'], 0, { added: CHATS * MESSAGES, changed: some, gone: 0, reasons: [] }],
  [['sync', '--full'], 0, { added: 0, gone: 0, reasons: [] }],
  [['search', wordOf(1, 2)], 0, { total: 1, items: [{ message: { id: 'm1-2', chatId: id } }] }],
  [['search', 'zzzzqq'], 0, { total: 0 }],
  [['chats'], 0, { total: CHATS }],
  [['show', id], 0, some],
  [['export', id, '--as', 'json'], 0, some],
  [['projects'], 0, some],
  [['stats', '--tz', 'UTC'], 0, some],
  [['tokens', '--tz', 'UTC'], 0, some],
  [['tokens', 'import', usage, '--tz', 'UTC'], 0, { rows: 1, already: 0 }],
  [['losses'], 0, { total: 0 }],
  [['commits', '--project', 'none'], 2, null],
  [['status'], 0, { state: 'ready', counts: { messages: CHATS * MESSAGES } }],
  [['doctor'], 0, some],
  [['archive', 'run'], 0, { state: 'verified', chats: CHATS }],
  [['archive', 'list'], 0, { items: [{ state: 'verified' }] }],
  [['archive', 'verify'], 0, { ok: true }],
  [['archive', 'restore'], 0, { ok: true, added: 0 }],
  [['purge', '--chat', id], 0, { dryRun: true, messages: MESSAGES }],
  [['purge', '--chat', id, '--yes'], 0, { dryRun: false, messages: MESSAGES, unread: [] }],
  [['chats'], 0, { total: CHATS - 1 }],
  [['hub', 'status'], 0, { hub: null }],
]

test.each(table.map((row) => [row[0].join(' '), ...row] as const))('%s', async (_, argv, exitCode, answer) => {
  const ended = await place.run([...argv, ...(argv[0] === 'export' ? [] : ['--json'])])
  expect([ended.exitCode, exitCode === 0 ? ended.stderr : '']).toEqual([exitCode, ''])
  if (answer !== null) expect(JSON.parse(ended.stdout)).toMatchObject(answer as object)
})

const say = (id: string, text: string): void => {
  place.cursor.global().chat(id, { name: id, fullConversationHeadersOnly: [{ bubbleId: `${id}-1`, type: 1 }] })
  place.cursor.global().message(id, `${id}-1`, { type: 1, text })
}
const mark = () => join(place.dataDir, 'mirror.db-clean')
const found = async (word: string): Promise<unknown> => {
  const { stdout } = await place.run(['search', word, '--json'])
  return (JSON.parse(stdout) as { total: unknown }).total
}

test('a command that reads writes nothing, unless Cursor wrote something or the last writer was killed', async () => {
  await found('plum')
  const before = [readFileSync(mark(), 'utf8'), statSync(mark()).mtimeMs]
  for (const argv of [['search', 'plum'], ['chats'], ['show', 'chat-0'], ['status'], ['stats']]) await place.run(argv)
  expect([readFileSync(mark(), 'utf8'), statSync(mark()).mtimeMs]).toEqual(before)
  say('fresh', 'a quince')
  expect(await found('quince')).toBe(1)
  expect(readFileSync(mark(), 'utf8')).not.toBe(before[0])
  writeFileSync(mark(), '')
  expect(await found('quince')).toBe(1)
  expect(readFileSync(mark(), 'utf8')).not.toBe('')
})

test('while another program has the lock, a command that has nothing to read answers, and one that has waits for it', async () => {
  expect(await found('quince')).toBe(1)
  const lock = takeLock(place.dataDir)
  expect(await found('quince')).toBe(1)
  say('later', 'a medlar')
  const waiting = found('medlar')
  await new Promise((resolve) => setTimeout(resolve, 1500))
  lock.release()
  expect(await waiting).toBe(1)
})

test('Ctrl-C ends a command at any moment, also in its first pass, and nothing is lost', async () => {
  const other = new Workplace()
  try {
    fillStore(other.cursor.global(), { chats: 100, messagesPerChat: 50, textLength: 1000 })
    for (const afterMs of [100, 250, 400, 600, 900, 1200, 1600, 2100]) {
      const command = other.start(['sync'])
      await new Promise((resolve) => setTimeout(resolve, afterMs))
      const { tookMs } = await command.stop('SIGINT')
      expect(tookMs).toBeLessThan(STOP_MS_MAX)
    }
    const { stdout } = await other.run(['status', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ state: 'ready', counts: { chats: 100, messages: 5000 } })
  } finally {
    await other.remove()
  }
})
