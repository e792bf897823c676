import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import type { RunOutcome } from '../../src/engine/writer/writer.ts'
import { sourceReasons } from '../../src/engine/source-reasons.ts'
import { type CursorHome, headers, type Store } from '../helpers/cursor.ts'
import { fillStore } from '../helpers/fill-store.ts'
import { openIndexed, type Indexer } from '../helpers/in-process.ts'

const START_MS = Date.UTC(2026, 2, 1)

let home: CursorHome
let store: Store
let indexer: Indexer
let nowMs: number
beforeEach(() => {
  ;({ home, store, indexer } = openIndexed())
  nowMs = START_MS
  indexer.now = () => nowMs
})

/** Twenty chats of nineteen messages: four hundred rows. */
async function fill(): Promise<void> {
  fillStore(store, { chats: 20, messagesPerChat: 19 })
  await indexer.pass()
}

function dropRows(where: string): void {
  store.db.exec(`delete from cursorDiskKV where ${where}`)
}

const dropChats = (from: number, to: number): void => {
  for (let chat = from; chat < to; chat += 1) {
    dropRows(`key = 'composerData:chat-${chat}' or key like 'bubbleId:chat-${chat}:%'`)
  }
}

const pendingOf = ({ ends }: RunOutcome): (readonly [rows: number, of: number])[] =>
  ends.flatMap(({ pendingLoss }) => (pendingLoss === null ? [] : [[pendingLoss.rows, pendingLoss.of] as const]))

function expectNothingGone(): void {
  expect([indexer.counts.gone, indexer.losses()]).toEqual([0, []])
}

function say(id: string): void {
  store.message('new', id, { type: 1, text: `said ${id}` })
  store.chat('new', { name: 'New', createdAt: START_MS, fullConversationHeadersOnly: headers([id]) })
}

describe('rows of the global store', () => {
  beforeEach(fill)

  test('that vanish in large numbers are kept, with a reason that contains path and counts', async () => {
    dropChats(0, 8)
    const outcome = await indexer.pass('keys')
    expect(pendingOf(outcome)).toEqual([[160, 400]])
    expect(sourceReasons(outcome.ends)).toEqual([
      expect.stringMatching(
        /^pending-loss: \S*state\.vscdb: 160 of 400 rows are missing; the store is being compared once more /,
      ),
    ])
    expectNothingGone()
  })

  test('are gone at once if they are at most a hundred', async () => {
    dropChats(0, 5)
    expect(pendingOf(await indexer.pass('keys'))).toEqual([])
    expect(indexer.counts.gone).toBe(95)
    expect(indexer.losses()).toHaveLength(5)
  })

  test.each(['tail', 'keys'] as const)('are gone if a %s misses them a minute later', async (depth) => {
    dropChats(0, 8)
    await indexer.pass('keys')
    nowMs += 59_999
    expect(pendingOf(await indexer.pass(depth))).toEqual([[160, 400]])
    expectNothingGone()
    nowMs += 1
    const outcome = await indexer.pass(depth)
    expect(pendingOf(outcome)).toEqual([])
    expect([outcome.gone, indexer.losses().length]).toEqual([152, 8])
    expect(await indexer.pass('values')).toMatchObject({ changed: 0, added: 0, gone: 0 })
  })

  test('are gone if a full pass misses them, even the first one', async () => {
    dropChats(0, 8)
    await indexer.pass('keys')
    expect(pendingOf(await indexer.pass('values'))).toEqual([])
    expect(indexer.losses()).toHaveLength(8)
    dropChats(8, 20)
    expect(pendingOf(await indexer.pass('values'))).toEqual([])
    expect(indexer.losses()).toHaveLength(20)
  })

  test('that Cursor rewrites were never lost', async () => {
    const rows = store.db.prepare('select key, value from cursorDiskKV').all()
    dropRows('true')
    expect(pendingOf(await indexer.pass('keys'))).toEqual([[400, 400]])
    nowMs += 30_000
    for (const { key, value } of rows as { key: string; value: unknown }[]) store.put(key, value)
    expect(pendingOf(await indexer.pass())).toEqual([])
    expectNothingGone()
  })

  test('of which some are back wait for the rest of their minute; the others were never lost', async () => {
    const rows = store.db.prepare(`select key, value from cursorDiskKV where key like '%chat-1:%'`).all()
    dropChats(0, 8)
    await indexer.pass('keys')
    nowMs += 30_000
    for (const { key, value } of rows as { key: string; value: unknown }[]) store.put(key, value)
    expect(pendingOf(await indexer.pass())).toEqual([[141, 400]])
    expectNothingGone()
    nowMs += 30_000
    await indexer.pass()
    expect(indexer.losses()).toHaveLength(7)
    expect(indexer.counts.gone).toBe(133)
  })

  test('are still kept after a restart, and gone after their minute', async () => {
    dropChats(0, 8)
    await indexer.pass('keys')
    indexer.restart()
    expect(pendingOf(await indexer.pass())).toEqual([[160, 400]])
    expectNothingGone()
    nowMs += 60_000
    indexer.restart()
    expect(pendingOf(await indexer.pass())).toEqual([])
    expect(indexer.losses()).toHaveLength(8)
  })

  test('do not delay new messages, and new ones do not reduce their number', async () => {
    dropChats(0, 5)
    dropRows(`key = 'bubbleId:chat-6:m6-0'`)
    expect(pendingOf(await indexer.pass('keys'))).toEqual([[101, 400]])
    say('n1')
    expect(await indexer.pass()).toMatchObject({ added: 1, gone: 0 })
    fillStore(store, { chats: 60, messagesPerChat: 19 })
    dropChats(0, 5)
    dropRows(`key = 'bubbleId:chat-6:m6-0'`)
    const outcome = await indexer.pass('keys')
    expect(outcome).toMatchObject({ added: 760, gone: 0 })
    expect(pendingOf(outcome)).toEqual([[101, 1202]])
    expectNothingGone()
    nowMs += 60_000
    await indexer.pass()
    expect(indexer.counts.gone).toBe(96)
  })

  test('that vanish while others wait have a minute of their own', async () => {
    dropChats(0, 8)
    await indexer.pass('keys')
    nowMs += 40_000
    dropChats(8, 10)
    expect(pendingOf(await indexer.pass('keys'))).toEqual([[200, 400]])
    nowMs += 20_000
    expect(pendingOf(await indexer.pass('keys'))).toEqual([[40, 240]])
    expect(indexer.losses()).toHaveLength(8)
    nowMs += 40_000
    expect(pendingOf(await indexer.pass())).toEqual([])
    expect(indexer.losses()).toHaveLength(10)
  })

  test.each([
    ['whose table is dropped', () => store.db.exec('drop table cursorDiskKV')],
    ['that is emptied', () => dropRows('true')],
    [
      'that is swapped for another',
      () => {
        store.close()
        for (const tail of ['', '-wal', '-shm']) rmSync(`${home.globalPath}${tail}`, { force: true })
        store = home.global()
        say('n1')
      },
    ],
  ] as const)('of a store %s are kept, and gone a minute later', async (_, act) => {
    act()
    expect(pendingOf(await indexer.pass('keys'))).toEqual([[400, expect.any(Number)]])
    expectNothingGone()
    nowMs += 60_000
    expect(pendingOf(await indexer.pass())).toEqual([])
    expect(indexer.losses()).toHaveLength(20)
  })

  test('of a store that is missing for a while wait, and are checked when it is back', async () => {
    dropChats(0, 8)
    await indexer.pass('keys')
    store.close()
    for (const tail of ['', '-wal', '-shm']) rmSync(`${home.globalPath}${tail}`, { force: true })
    nowMs += 120_000
    expect(pendingOf(await indexer.pass('keys'))).toEqual([[160, 400]])
    expectNothingGone()
  })

  test('of many chats that a cheap pass finds are kept too, and marked if they are few', async () => {
    for (let chat = 0; chat < 20; chat += 1) {
      const kept = Array.from({ length: 10 }, (_, at) => `m${chat}-${at}`)
      dropRows(kept.map((id) => `key = 'bubbleId:chat-${chat}:${id}'`).join(' or '))
      store.message(`chat-${chat}`, 'after', { type: 1, text: 'after' })
    }
    const outcome = await indexer.pass()
    expect(outcome).toMatchObject({ added: 20, gone: 0 })
    expect(pendingOf(outcome)).toEqual([[200, 420]])
    expectNothingGone()
  })
})

test('are gone in a cheap pass if many chats miss only a few', async () => {
  await fill()
  for (let chat = 0; chat < 20; chat += 1) {
    dropRows(`key = 'bubbleId:chat-${chat}:m${chat}-3'`)
    store.message(`chat-${chat}`, 'after', { type: 1, text: 'after' })
  }
  expect(await indexer.pass()).toMatchObject({ added: 20, gone: 20 })
})

describe('files of a folder of transcripts', () => {
  const folder = (): string => join(home.root, '.cursor', 'projects', 'home-ada-shop', 'agent-transcripts')
  const write = (from: number, to: number, more = ''): void => {
    mkdirSync(folder(), { recursive: true })
    for (let at = from; at < to; at += 1) {
      const line = { role: 'user', message: { content: [{ type: 'text', text: `transcript ${at}${more}` }] } }
      writeFileSync(join(folder(), `t${at}.jsonl`), `${JSON.stringify(line)}\n`)
    }
  }

  beforeEach(async () => {
    indexer.homes = [join(home.root, '.cursor')]
    write(0, 150)
    await indexer.pass()
    for (let at = 0; at < 120; at += 1) rmSync(join(folder(), `t${at}.jsonl`))
    await indexer.pass()
  })

  test('wait while new ones are read, and are gone a minute later', async () => {
    write(200, 201)
    const outcome = await indexer.pass()
    expect(outcome).toMatchObject({ added: 1, gone: 0 })
    expect(pendingOf(outcome)).toEqual([[120, 151]])
    nowMs += 60_000
    expect(pendingOf(await indexer.pass())).toEqual([])
    expect(indexer.losses()).toHaveLength(120)
  })

  test('are gone a minute later although every pass reads more than 4 MB', async () => {
    for (let pass = 0; pass < 3; pass += 1) {
      for (let at = 200; at < 203; at += 1) write(at, at + 1, 'plum '.repeat(450_000 + pass))
      nowMs += 30_000
      await indexer.pass()
    }
    expect(indexer.losses()).toHaveLength(120)
  })

  test('are gone if a full pass misses them', async () => {
    expect(pendingOf(await indexer.pass('values'))).toEqual([])
    expect(indexer.losses()).toHaveLength(120)
  })

  test('that are back were never lost', async () => {
    write(0, 120)
    expect(pendingOf(await indexer.pass())).toEqual([])
    nowMs += 60_000
    await indexer.pass('keys')
    expectNothingGone()
  })
})
