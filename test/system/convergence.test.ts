import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CursorHome } from '../helpers/cursor.ts'
import { readExpected } from '../helpers/oracle.ts'
import { expectAnswers } from '../helpers/oracle/compare.ts'
import { Memory } from '../helpers/oracle/memory.ts'
import { RunningDaemon } from '../helpers/running-daemon.ts'
import { act, operations } from '../helpers/shapes/operations.ts'
import { Writer } from '../helpers/shapes/writer.ts'
import { pause, waitUntil } from '../helpers/wait-until.ts'

const BY_NUDGE_MS = 9000

const home = new CursorHome()
const memory = new Memory()
let daemon: RunningDaemon
let writer: Writer

beforeAll(async () => {
  writer = new Writer(home.global())
  daemon = await RunningDaemon.start({ userDirs: [home.userDir] })
  await daemon.waitReady()
})

afterAll(async () => {
  await daemon?.stop()
  writer.close()
  home.remove()
})

describe.each(Object.entries(operations))('%s', (_, mine) => {
  test.each(mine)('after $name, a full sync makes the answers equal to the store', async (operation) => {
    const { chats, found = [], foundTwice = [], lost = [] } = operation
    for (const [id, words] of Object.entries(chats)) writer.chat(id, words)
    const before = Object.values(chats).flatMap((words) => Object.values(words))
    await expectConverged()
    expect(await hitsOf(before)).toEqual(allHaving(1, before))

    await act(writer, operation)
    await expectConverged()
    expect(await hitsOf(found)).toEqual(allHaving(1, found))
    expect(await hitsOf(foundTwice)).toEqual(allHaving(2, foundTwice))
    expect(await hitsOf(lost)).toEqual(allHaving(0, lost))
  })
})

async function expectConverged(): Promise<void> {
  await daemon.post('/api/sync', { full: true })
  await expectAnswers(daemon, memory.look(readExpected(home.globalPath).chats))
  expect(await daemon.post('/api/sync', { full: true })).toMatchObject({ changed: 0, added: 0, gone: 0 })
}

describe('without a sync, by the pass that a commit causes unless stated otherwise,', () => {
  beforeAll(async () => {
    writer.createTable()
    writer.chat('live', { m1: 'walnutfirst', m2: 'walnutold' })
    await daemon.post('/api/sync', { full: true })
  })

  test('a message that was added, with its place in the list, is found', async () => {
    writer.insert('live', 'm3', 'walnutthird')
    writer.list('live', ['m1', 'm2', 'm3'])
    expect(await hitsSoon('walnutthird', 1)).toBe(1)
  })

  test('the last message, inserted again, is found only by its new words', async () => {
    writer.insert('live', 'm3', 'walnutagain')
    expect(await hitsSoon('walnutagain', 1)).toBe(1)
    expect(await hitsSoon('walnutthird', 0)).toBe(0)
  })

  test('the newest message, upserted with another length, is found only by its new words', async () => {
    writer.upsert('live', 'm3', 'walnutandagainlonger')
    expect(await hitsSoon('walnutandagainlonger', 1)).toBe(1)
    expect(await hitsSoon('walnutagain', 0)).toBe(0)
  })

  test('an older message of a current chat, updated in place with the same length, is found soon', async () => {
    const nowMs = Date.now()
    writer.chat('atwork', { m1: 'cedarfirst', m2: 'cedarsecond' }, nowMs)
    for (let at = 0; at < 12; at += 1) {
      writer.chat(
        `filler${at}`,
        Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`m${n + 1}`, `filling${at}`])),
      )
    }
    expect(await hitsSoon('cedarfirst', 1)).toBe(1)
    await pause(1500)
    writer.update('atwork', 'm1', 'cedarother')
    const startedMs = performance.now()
    await waitUntil('the new words', async () => (await countHits('cedarother')) === 1)
    console.log(`in place, same length: found after ${Math.round(performance.now() - startedMs)} ms`)
    expect(await hitsSoon('cedarfirst', 0)).toBe(0)
  })

  test('a list that grew gives a row its position', async () => {
    writer.insert('live', 'm4', 'walnutfourth')
    expect(await hitsSoon('walnutfourth', 1)).toBe(1)
    writer.list('live', ['m1', 'm2', 'm3', 'm4'])
    const lastId = async (): Promise<string | undefined> => {
      const { items } = await daemon.get<{ items: { id: string }[] }>('/api/chats/live/messages')
      return items.at(-1)?.id
    }
    await waitUntil('its place', async () => (await lastId()) === 'm4', { withinMs: BY_NUDGE_MS })
    expect(await lastId()).toBe('m4')
  })
})

/** Asks for a while, because deeper passes come ten seconds after a change or later. @returns the last answer, as wanted or not */
async function hitsSoon(word: string, wanted: number): Promise<number> {
  const endMs = performance.now() + BY_NUDGE_MS
  for (;;) {
    const hits = await countHits(word)
    if (hits === wanted || performance.now() > endMs) return hits
    await pause(20)
  }
}

async function hitsOf(words: readonly string[]): Promise<Record<string, number>> {
  return Object.fromEntries(await Promise.all(words.map(async (word) => [word, await countHits(word)] as const)))
}

const allHaving = (hits: number, words: readonly string[]): Record<string, number> =>
  Object.fromEntries(words.map((word) => [word, hits]))

async function countHits(word: string): Promise<number> {
  return (await daemon.get<{ total: number }>(`/api/search?q=${word}&literal=true`)).total
}
