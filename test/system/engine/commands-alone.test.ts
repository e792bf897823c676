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

/** In this order: the words, and what the answer has. */
const table: readonly (readonly [argv: readonly string[], answer: unknown])[] = [
  [['sync'], { added: CHATS * MESSAGES, changed: some, gone: 0, reasons: [] }],
  [['sync'], { added: 0, gone: 0, reasons: [] }],
  [['sync', '--full'], { added: 0, gone: 0, reasons: [] }],
  [['search', wordOf(1, 2)], { total: 1, items: [{ message: { id: 'm1-2', chatId: id } }] }],
  [['search', 'zzzzqq'], { total: 0 }],
  [['chats'], { total: CHATS }],
  [['show', id], some],
  [['export', id, '--as', 'json'], some],
  [['projects'], some],
  [['stats', '--tz', 'UTC'], some],
  [['tokens', '--tz', 'UTC'], some],
  [['tokens', 'import', usage, '--tz', 'UTC'], { rows: 1, already: 0 }],
  [['losses'], { total: 0 }],
  [['status'], { state: 'ready', counts: { messages: CHATS * MESSAGES } }],
  [['doctor'], some],
  [['archive', 'run'], { state: 'verified', chats: CHATS }],
  [['archive', 'list'], { items: [{ state: 'verified' }] }],
  [['archive', 'verify'], { ok: true }],
  [['archive', 'restore'], { ok: true, added: 0 }],
  [['purge', '--chat', id], { dryRun: true, messages: MESSAGES }],
  [['purge', '--chat', id, '--yes'], { dryRun: false, messages: MESSAGES, unread: [] }],
  [['chats'], { total: CHATS - 1 }],
  [['hub', 'status'], { hub: null }],
]

test.each(table.map((row) => [row[0].join(' '), ...row] as const))('%s', async (_, argv, answer) => {
  const ended = await place.run([...argv, ...(argv[0] === 'export' ? [] : ['--json'])])
  // A search that finds nothing ends with 1.
  expect([ended.exitCode, ended.stderr]).toEqual([argv.includes('zzzzqq') ? 1 : 0, ''])
  expect(JSON.parse(ended.stdout)).toMatchObject(answer as object)
})

const say = (chat: string, text: string): void => {
  place.cursor.global().chat(chat, { name: chat, fullConversationHeadersOnly: [{ bubbleId: `${chat}-1`, type: 1 }] })
  place.cursor.global().message(chat, `${chat}-1`, { type: 1, text })
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
    for (const afterMs of [100, 400, 900, 1600]) {
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

test('two commands at once on a new folder both answer, and so do two that meet a starting daemon', async () => {
  const other = new Workplace()
  try {
    const store = other.cursor.global()
    fillStore(store, { chats: 30, messagesPerChat: 30, textLength: 500 })
    const both = await Promise.all([other.run(['search', 'plum', '--json']), other.run(['chats', '--json'])])
    expect(both.map(({ exitCode }) => exitCode)).toEqual([0, 0])
    expect(both.map(({ stdout }) => (JSON.parse(stdout) as { total: unknown }).total)).toEqual([900, 30])
    store.message('chat-0', 'late', { type: 1, text: 'a persimmon' })
    const { stdout } = await other.run(['search', 'persimmon', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ total: 1 })
    const daemon = other.start()
    const commands = await Promise.all([other.run(['status']), other.run(['chats', '--json'])])
    expect(commands.map(({ exitCode }) => exitCode)).toEqual([0, 0])
    await daemon.listening()
    expect(daemon.hasEnded).toBe(false)
  } finally {
    await other.remove()
  }
})
