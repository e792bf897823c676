import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { takeLock } from '../../../src/engine/lock.ts'
import { fillStore, wordOf } from '../../helpers/fill-store.ts'
import { getJson, untilReady, Workplace } from '../../helpers/spawn-cursordex.ts'
import { pause } from '../../helpers/wait-until.ts'

type Tree = Readonly<Record<string, unknown>>

/** Fields that differ from one moment to the next, and from one process to the other. */
const PASSING = new Set(['tookMs', 'uptimeMs', 'resources', 'lagMs', 'estimation', 'lastSyncAt', 'mirror'])

function lasting(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(lasting)
  if (typeof answer !== 'object' || answer === null) return answer
  const entries = Object.entries(answer).filter(([key]) => !PASSING.has(key))
  return Object.fromEntries(entries.map(([key, value]) => [key, lasting(value)]))
}

const questions: readonly [argv: readonly string[], path: string][] = [
  [['search', 'plum', '--limit', '3'], '/api/search?q=plum&limit=3'],
  [['search', wordOf(1, 1), '--role', 'assistant'], `/api/search?q=${wordOf(1, 1)}&role=assistant`],
  [['chats', '--sort', 'oldest'], '/api/chats?sort=oldest'],
  [['projects'], '/api/projects'],
  [['status'], '/api/status'],
]

describe('with and without a daemon', () => {
  const place = new Workplace()
  const fromDaemon = new Map<string, unknown>()
  const fromHttp = new Map<string, unknown>()
  const printedBeside = new Map<string, string>()
  const shown: string[] = []

  beforeAll(async () => {
    fillStore(place.cursor.global(), { chats: 4, messagesPerChat: 3 })
    place.cursor.workspace('ws1', { folder: 'file:///home/ada/shop' }, ['chat-0', 'chat-1'])
    const { daemon, url } = await place.serve()
    await untilReady(url)
    for (const [argv, path] of questions) {
      const { stdout } = await place.run([...argv, '--json'])
      fromDaemon.set(path, JSON.parse(stdout))
      fromHttp.set(path, await getJson(url, path))
      printedBeside.set(path, (await place.run(argv)).stdout)
    }
    shown.push((await place.run(['show', 'chat-1'])).stdout)
    await daemon.stop()
  })
  afterAll(() => place.remove())

  test.each(questions)('%j --json prints what HTTP answers', (_argv, path) => {
    expect(lasting(fromDaemon.get(path))).toEqual(lasting(fromHttp.get(path)))
    expect(JSON.stringify(fromDaemon.get(path)).length).toBeGreaterThan(100)
  })

  test.each(questions)('%j answers the same without a daemon', async (argv, path) => {
    const { exitCode, stdout } = await place.run([...argv, '--json'])
    expect(exitCode).toBe(0)
    expect(lasting(JSON.parse(stdout))).toEqual(lasting(fromHttp.get(path)))
    expect(existsSync(join(place.dataDir, 'daemon.json'))).toBe(false)
  })

  test('tables print the same without a daemon, and so does a whole chat', async () => {
    const tables = questions.filter(([argv]) => argv[0] === 'chats' || argv[0] === 'search').slice(0, 2)
    for (const [argv, path] of tables) expect((await place.run(argv)).stdout).toBe(printedBeside.get(path))
    const { stdout } = await place.run(['show', 'chat-1'])
    expect(stdout).toBe(shown[0])
    expect(stdout).toContain(wordOf(1, 2))
  })

  test('a missing chat is exit code 1 with a sentence', async () => {
    const { exitCode, stdout, stderr } = await place.run(['show', 'no-such-chat'])
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toMatch(/cursordex chats\n$/)
  })
})

describe('without a daemon', () => {
  const place = new Workplace()
  afterAll(() => place.remove())

  test('two commands at once on a new folder both answer, and the next one reads what was written meanwhile', async () => {
    const store = place.cursor.global()
    fillStore(store, { chats: 30, messagesPerChat: 30, textLength: 500 })
    const both = await Promise.all([place.run(['search', 'plum', '--json']), place.run(['chats', '--json'])])
    expect(both.map(({ exitCode }) => exitCode)).toEqual([0, 0])
    expect(both.map(({ stdout }) => (JSON.parse(stdout) as Tree)['total'])).toEqual([900, 30])
    store.message('chat-0', 'late', { type: 1, text: 'a persimmon' })
    const { stdout } = await place.run(['search', 'persimmon', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ total: 1 })
  })

  test('sync reads what is new, and a second one finds nothing to do', async () => {
    place.cursor.global().chat('another', { name: 'Another', conversation: [{ bubbleId: 'a', type: 1, text: 'hi' }] })
    const first = JSON.parse((await place.run(['sync', '--json'])).stdout) as Tree
    const second = JSON.parse((await place.run(['sync', '--full', '--json'])).stdout) as Tree
    expect(second).toMatchObject({ changed: 0, added: 0, gone: 0 })
    expect(Object.keys(first)).toEqual(['changed', 'added', 'gone', 'tookMs', 'reasons'])
    expect(JSON.parse((await place.run(['show', 'another', '--json'])).stdout)).toBeDefined()
  })
})

/** Longer than a command takes to start, so that its own time alone would not suffice. */
const HELD_MS = 3000

test('without a daemon sync counts the time in which another program had the mirror', async () => {
  const place = new Workplace()
  try {
    fillStore(place.cursor.global(), { chats: 2, messagesPerChat: 2 })
    await place.run(['sync'])
    const lock = takeLock(place.dataDir)
    const answered = place.run(['sync', '--json'])
    await pause(HELD_MS)
    lock.release()
    const { tookMs } = JSON.parse((await answered).stdout) as { tookMs: number }
    // Loading the program comes before the request.
    expect(tookMs).toBeGreaterThan(HELD_MS - 1500)
  } finally {
    await place.remove()
  }
})

test.each(['a daemon', 'no daemon'])('with %s the first sync counts the first reading', async (form) => {
  const place = new Workplace()
  try {
    fillStore(place.cursor.global(), { chats: 300, messagesPerChat: 40, textLength: 500 })
    if (form === 'a daemon') await place.serve()
    const startedAt = performance.now()
    const { stdout } = await place.run(['sync', '--json'])
    const waitedMs = performance.now() - startedAt
    const { tookMs } = JSON.parse(stdout) as { tookMs: number }
    const again = JSON.parse((await place.run(['sync', '--json'])).stdout) as { tookMs: number }
    expect(tookMs).toBeLessThanOrEqual(waitedMs)
    expect(tookMs).toBeGreaterThan(2 * again.tookMs)
  } finally {
    await place.remove()
  }
})

test('a command that meets a starting daemon gets its answer', async () => {
  const place = new Workplace()
  try {
    fillStore(place.cursor.global(), { chats: 2, messagesPerChat: 2 })
    const daemon = place.start()
    const commands = await Promise.all([place.run(['status']), place.run(['chats', '--json'])])
    expect(commands.map(({ exitCode }) => exitCode)).toEqual([0, 0])
    await daemon.listening()
    expect(daemon.hasEnded).toBe(false)
  } finally {
    await place.remove()
  }
})
