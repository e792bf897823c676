import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { afterAll, expect, test } from 'vitest'
import { CursorHome } from '../helpers/cursor.ts'
import { liveMoves } from '../../src/sample/live-chats.ts'
import type { Move } from '../../src/sample/live-chats.ts'
import { waitUntil } from '../helpers/wait-until.ts'

const home = new CursorHome()
const store = home.global()

afterAll(() => home.remove())

interface Row {
  readonly rowid: number
  readonly key: string
  readonly value: string
}

const newest = (prefix: string): Row =>
  store.db
    .prepare<[string], Row>(`select rowid, key, value from cursorDiskKV where key glob ? order by rowid desc limit 1`)
    .get(`${prefix}*`) ?? { rowid: 0, key: '', value: '{}' }

interface Seen {
  readonly afterMs: number
  readonly key: string
  readonly rowid: number
  readonly message: {
    readonly type: number
    readonly text: string
    readonly toolFormerData?: { readonly status: string; readonly name: string; readonly result?: string }
  }
  readonly chatKey: string
  readonly headers: number
  readonly isRunning: boolean
}

function play(move: Move, nowMs: number): Seen {
  move.write(store, nowMs)
  const row = newest('bubbleId:')
  const chatRow = newest('composerData:')
  const chat = JSON.parse(chatRow.value) as { fullConversationHeadersOnly: unknown[]; unfinishedRunAt?: number }
  return {
    afterMs: move.afterMs,
    key: row.key,
    rowid: row.rowid,
    message: JSON.parse(row.value) as Seen['message'],
    chatKey: chatRow.key,
    headers: chat.fullConversationHeadersOnly.length,
    isRunning: chat.unfinishedRunAt !== undefined,
  }
}

const moves = liveMoves('seed')
const seen = Array.from({ length: 150 }, (_, index) => play(moves.next().value, Date.UTC(2026, 4, 15) + index * 400))
const firstChat = seen.filter(({ chatKey }) => chatKey === seen[0]?.chatKey)
const writesOf = (key: string): Seen[] => seen.filter((each) => each.key === key)

test('an answer is rewritten ten times in one to two seconds, each time longer and as a new row', () => {
  const streamed = [...new Set(seen.map(({ key }) => key))].map(writesOf).filter(([first, , third]) => {
    return first?.message.type === 2 && third !== undefined
  })
  expect(streamed.length).toBeGreaterThan(5)
  for (const writes of streamed.slice(0, -1)) {
    expect(writes).toHaveLength(10)
    const tookMs = writes.slice(1).reduce((sum, { afterMs }) => sum + afterMs, 0)
    expect(tookMs).toBeGreaterThanOrEqual(1000)
    expect(tookMs).toBeLessThanOrEqual(2000)
    const lengths = writes.map(({ message }) => message.text.length)
    expect(lengths).toEqual([...new Set(lengths)].sort((one, other) => one - other))
    expect(new Set(writes.map(({ rowid }) => rowid)).size).toBe(10)
  }
})

test('a tool call is first written without its result', () => {
  const calls = seen.filter(({ message }) => message.toolFormerData !== undefined)
  expect(calls.length).toBeGreaterThan(10)
  for (const [loading, completed] of [...new Set(calls.map(({ key }) => key))].slice(0, -1).map(writesOf)) {
    expect(loading?.message.toolFormerData).toMatchObject({ status: 'loading' })
    expect(loading?.message.toolFormerData?.result).toBeUndefined()
    expect(completed?.message.toolFormerData?.status).toMatch(/^(completed|error)$/)
    expect(completed?.message.toolFormerData?.name).toBe(loading?.message.toolFormerData?.name)
  }
})

test('a message follows the former one after two to four seconds, and the chat’s list grows', () => {
  const begun = seen.filter(({ key }, index) => seen.findIndex((each) => each.key === key) === index)
  const pauses = begun.slice(1).map(({ afterMs }) => afterMs)
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(2000)
  expect(Math.max(...pauses)).toBeLessThanOrEqual(4000)
  const ofFirst = begun.filter(({ chatKey }) => chatKey === seen[0]?.chatKey)
  expect(ofFirst.map(({ headers }) => headers)).toEqual(ofFirst.map((_, index) => index + 1))
})

test('a chat continues to its last message; then the next one begins', () => {
  expect(new Set(seen.map(({ chatKey }) => chatKey)).size).toBeGreaterThanOrEqual(3)
  expect(firstChat.map(({ isRunning }) => isRunning)).toEqual(firstChat.map((_, index) => index < firstChat.length - 1))
  expect(seen.findIndex(({ chatKey }) => chatKey !== firstChat[0]?.chatKey)).toBe(firstChat.length)
})

test('the writing process ignores Ctrl-C and ends when the daemon ends it', async () => {
  const other = new CursorHome()
  const path = fileURLToPath(new URL('../../dist/sample/grow-child.js', import.meta.url))
  const child = fork(path, [other.root, 'seed'], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'], execArgv: [] })
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text))
  try {
    const count = (): number => {
      if (!existsSync(other.globalPath)) return 0
      const db = new Database(other.globalPath, { readonly: true })
      // The file exists before its table.
      const isMade = db.prepare(`select 1 from sqlite_master where name = 'cursorDiskKV'`).get() !== undefined
      if (!isMade) db.close()
      if (!isMade) return 0
      const { rows } = db.prepare<[], { rows: number }>('select count(*) as rows from cursorDiskKV').get() ?? {
        rows: 0,
      }
      db.close()
      return rows
    }
    await waitUntil('the first rows', () => child.exitCode !== null || count() > 0, {
      everyMs: 50,
    })
    child.kill('SIGINT')
    const before = count()
    await waitUntil('more rows', () => child.exitCode !== null || count() > before, { everyMs: 50 })
    const ended = once(child, 'exit')
    child.disconnect()
    expect(await ended).toEqual([0, null])
    expect(said).toBe('')
  } finally {
    child.kill('SIGKILL')
    other.remove()
  }
})
