import { afterAll, describe, expect, test } from 'vitest'
import { takeLock } from '../../../src/engine/lock.ts'
import { fillStore } from '../../helpers/fill-store.ts'
import { Workplace } from '../../helpers/spawn-cursordex.ts'
import { pause } from '../../helpers/wait-until.ts'

type Tree = Readonly<Record<string, unknown>>

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

  test('a missing chat is exit code 1 with a sentence', async () => {
    const { exitCode, stdout, stderr } = await place.run(['show', 'no-such-chat'])
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toMatch(/cursordex chats\n$/)
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
