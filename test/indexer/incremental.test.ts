import { beforeEach, describe, expect, test } from 'vitest'
import { LIST_ABOVE } from '../../src/indexer/sources/composer-kv/read.ts'
import { headers, type Store } from '../helpers/cursor.ts'
import { openIndexed, type Indexer } from '../helpers/in-process.ts'

let store: Store
let indexer: Indexer
beforeEach(() => {
  ;({ store, indexer } = openIndexed())
})

const ids = ['m1', 'm2', 'm3']

function writeChat(chatId: string, messageIds: readonly string[] = ids): void {
  store.chat(chatId, { name: chatId, createdAt: 1_760_000_000_000, fullConversationHeadersOnly: headers(messageIds) })
  for (const id of messageIds) store.message(chatId, id, { type: 1, text: `${id} of ${chatId}` })
}

test('a comparison that finds little to read reports how much that is, and not the number of rows', async () => {
  for (const chatId of ['a', 'b', 'c', 'd']) writeChat(chatId)
  await indexer.pass()
  store.delete('bubbleId:b:m2')
  const steps = await indexer.steps('keys')
  expect(steps.flatMap(({ outcome }) => outcome?.chatIds ?? [])).toEqual(['b'])
  expect(Math.max(...steps.map(({ total }) => total))).toBeLessThanOrEqual(1)
})

test('in a store never read before, the newest chats are read completely, and once', async () => {
  const old = Array.from({ length: 20 }, (_, at) => `m${at}`)
  for (let chat = 0; chat < 260; chat += 1) writeChat(`chat-${chat}`, old)
  // Started before all others, and continued.
  store.message('chat-0', 'late', { type: 1, text: 'said last of all' })
  const seen = new Set<string>()
  const newest: number[] = []
  let added = 0
  await indexer.pass('tail', ({ outcome }) => {
    if (added < 1000) for (const chatId of outcome?.chatIds ?? []) seen.add(chatId)
    const isEnough = added < 1000 && added + (outcome?.added ?? 0) >= 1000
    added += outcome?.added ?? 0
    if (isEnough) newest.push(indexer.thread('chat-0').length)
  })
  expect([...seen].slice(0, 2)).toEqual(['chat-0', 'chat-259'])
  expect(seen).not.toContain('chat-1')
  expect(newest).toEqual([21])
  expect(added).toBe(260 * 20 + 1)
  expect(await indexer.pass('values')).toMatchObject({ added: 0, changed: 0, gone: 0 })
})

describe('a cheap pass finds', () => {
  beforeEach(async () => {
    writeChat('a')
    writeChat('b')
    await indexer.pass()
  })

  test('a new message', async () => {
    store.message('a', 'm4', { type: 2, text: 'fourth' })
    store.chat('a', { fullConversationHeadersOnly: headers([...ids, 'm4']) })
    expect(await indexer.pass()).toMatchObject({ added: 1 })
    expect(indexer.thread('a').at(-1)).toEqual(['m4', 3, 'fourth'])
  })

  test('a message that was rewritten and has a new rowid', async () => {
    store.message('a', 'm2', { type: 2, text: 'other words' })
    expect(await indexer.pass()).toMatchObject({ changed: 1, added: 0 })
    expect(indexer.thread('a')[1]).toEqual(['m2', 1, 'other words'])
    store.message('a', 'm2', { type: 2, text: 'quite different' })
    await indexer.pass()
    expect([indexer.found('other'), indexer.found('different')]).toEqual([0, 1])
  })

  test('a message updated in place, by its size', async () => {
    store.db
      .prepare(`update cursorDiskKV set value = ? where key = 'bubbleId:b:m3'`)
      .run(JSON.stringify({ type: 2, text: 'a good deal longer than the text that stood here before' }))
    expect(await indexer.pass()).toMatchObject({ changed: 1 })
  })

  test('a message deleted from a chat with another change', async () => {
    store.delete('bubbleId:a:m2')
    store.message('a', 'm1', { type: 1, text: 'asked anew' })
    expect(await indexer.pass()).toMatchObject({ changed: 1, gone: 1 })
  })

  test('that the newest row was deleted and its rowid reused by another chat', async () => {
    const rowid = store.db.prepare('select max(rowid) as top from cursorDiskKV').get() as { top: number }
    store.delete('bubbleId:b:m3')
    store.message('c', 'm1', { type: 1, text: 'in its place' })
    const now = store.db.prepare(`select rowid from cursorDiskKV where key = 'bubbleId:c:m1'`).get()
    expect(now).toEqual({ rowid: rowid.top })
    expect(await indexer.pass()).toMatchObject({ added: 1, gone: 1 })
  })
})

test('a value updated in place at the same size is found by a full pass', async () => {
  writeChat('a')
  await indexer.pass()
  store.db
    .prepare(`update cursorDiskKV set value = replace(value, 'm1 of a', 'm9 of z') where key = 'bubbleId:a:m1'`)
    .run()
  expect(await indexer.pass('keys')).toMatchObject({ changed: 0 })
  expect(await indexer.pass('values')).toMatchObject({ changed: 1 })
  expect(indexer.thread('a')[0]?.[2]).toBe('m9 of z')
})

test('new rows are found by a seek to the rowid, without reading all keys', () => {
  const plan = store.db.prepare(`explain query plan ${LIST_ABOVE}`).all(0, 1) as { detail: string }[]
  expect(plan.map(({ detail }) => detail)).toEqual(['SEARCH cursorDiskKV USING INTEGER PRIMARY KEY (rowid>?)'])
})

describe('regressions found by the second implementation:', () => {
  test('a tombstone of a chat that was never seen is no chat', async () => {
    store.chat('tomb', null)
    await indexer.pass()
    expect([indexer.chats, indexer.issues]).toEqual([[], []])
    expect(await indexer.pass('keys')).toMatchObject({ added: 0, changed: 0, gone: 0 })
  })

  test('an entry of the list without an id leaves a gap', async () => {
    const entries = [null, { bubbleId: 'm1' }, 'odd', { type: 2 }, { bubbleId: 'm2' }]
    store.chat('a', { fullConversationHeadersOnly: entries })
    for (const id of ['m1', 'm2']) store.message('a', id, { type: 1, text: id })
    await indexer.pass()
    expect(indexer.thread('a').map(([id, position]) => [id, position])).toEqual([
      ['m1', 1],
      ['m2', 4],
    ])
  })

  test('an error that is nested too deep is an issue and not ignored', async () => {
    const deep = `${'{"a":'.repeat(100_000)}"leaf"${'}'.repeat(100_000)}`
    store.put('bubbleId:a:m1', `{"type":1,"errorDetails":${deep}}`)
    await indexer.pass()
    expect(indexer.issues).toEqual(['bubbleId:a:m1 too-deep'])
  })

  test.each(['bubbleId:half', 'bubbleId::m1', 'bubbleId:a:'])('%s names no message', async (key) => {
    store.put(key, { type: 1, text: 'lost' })
    await indexer.pass()
    expect(indexer.issues.map((issue) => issue.split(' ').at(-1))).toEqual(['bad-key'])
    expect(await indexer.pass('keys')).toMatchObject({ added: 0, changed: 0, gone: 0 })
  })
})
