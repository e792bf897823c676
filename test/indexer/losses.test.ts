import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type CursorHome, headers, type Store } from '../helpers/cursor.ts'
import { Indexer, openIndexed } from '../helpers/in-process.ts'

const HOUR_MS = 3_600_000
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

function writeChat(chatId: string, ids: readonly string[], rows: readonly string[] = ids): void {
  store.chat(chatId, { name: `About ${chatId}`, createdAt: 1, fullConversationHeadersOnly: headers(ids) })
  for (const id of rows) store.message(chatId, id, { type: 1, text: `${id} of ${chatId}` })
}

const drop = (chatId: string, id: string): void => store.delete(`bubbleId:${chatId}:${id}`)
const dropChat = (chatId: string): void => store.delete(`composerData:${chatId}`)

/** What the next comparison adds to the ledger. */
async function lostByNow(): Promise<string[]> {
  const losses = (await indexer.steps('keys')).flatMap(({ outcome }) => outcome?.losses ?? [])
  return losses.map(({ kind, chatId, messageId }) => [kind, chatId, messageId ?? ''].join(' ').trim())
}

describe('a message', () => {
  beforeEach(async () => {
    writeChat('a', ['m1', 'm2', 'm3'])
    await indexer.pass()
    nowMs += HOUR_MS
  })

  test('that exists is no loss', async () => {
    expect(await lostByNow()).toEqual([])
    expect(indexer.losses()).toEqual([])
  })

  test('whose row is deleted is one loss, reported once, with the time when it was noticed', async () => {
    drop('a', 'm2')
    expect(await lostByNow()).toEqual(['message a m2'])
    nowMs += HOUR_MS
    expect(await lostByNow()).toEqual([])
    expect(indexer.losses()).toEqual(['message a m2'])
    expect(indexer.lossTimes()).toEqual([new Date(START_MS + HOUR_MS).toISOString()])
  })

  test('whose row is emptied is one loss', async () => {
    store.message('a', 'm2', null)
    expect(await lostByNow()).toEqual(['message a m2'])
  })

  test('that is back is no loss any more, and is one again when it is deleted again', async () => {
    drop('a', 'm2')
    await lostByNow()
    store.message('a', 'm2', { type: 1, text: 'm2 of a' })
    expect(await lostByNow()).toEqual([])
    expect(indexer.losses()).toEqual([])
    drop('a', 'm2')
    expect(await lostByNow()).toEqual(['message a m2'])
  })

  test('that its chat no longer lists is no loss as long as its row exists, and one when that is deleted', async () => {
    store.chat('a', { name: 'About a', createdAt: 1, fullConversationHeadersOnly: headers(['m1', 'm3']) })
    expect(await lostByNow()).toEqual([])
    drop('a', 'm2')
    expect(await lostByNow()).toEqual(['message a m2'])
  })

  test('that was rewritten under another id is no loss', async () => {
    store.chat('a', { name: 'About a', createdAt: 1, fullConversationHeadersOnly: headers(['m1', 'n2', 'm3']) })
    store.message('a', 'n2', { type: 1, text: 'm2 of a' })
    drop('a', 'm2')
    expect(await lostByNow()).toEqual([])
    drop('a', 'n2')
    expect(await lostByNow()).toContain('message a n2')
  })

  test('is one loss each if several are deleted, the last noticed first', async () => {
    drop('a', 'm1')
    await lostByNow()
    nowMs += HOUR_MS
    drop('a', 'm3')
    await lostByNow()
    expect(indexer.losses()).toEqual(['message a m3', 'message a m1'])
  })
})

describe('a chat', () => {
  beforeEach(async () => {
    writeChat('a', ['m1', 'm2', 'm3'])
    writeChat('b', ['m1'])
    await indexer.pass()
    nowMs += 24 * HOUR_MS
  })

  test('that is deleted as a whole is one loss, and its messages are not reported separately', async () => {
    dropChat('a')
    for (const id of ['m1', 'm2', 'm3']) drop('a', id)
    expect(await lostByNow()).toEqual(['chat a'])
    expect(indexer.losses()).toEqual(['chat a'])
  })

  test('whose row is emptied, and whose messages are deleted, is one loss', async () => {
    store.chat('a', null)
    for (const id of ['m1', 'm2', 'm3']) drop('a', id)
    expect(await lostByNow()).toEqual(['chat a'])
  })

  test('whose row is deleted is no loss while it has a message; then it includes the messages lost with it', async () => {
    dropChat('a')
    drop('a', 'm1')
    expect(await lostByNow()).toEqual(['message a m1'])
    nowMs += 60_000
    drop('a', 'm2')
    drop('a', 'm3')
    expect(await lostByNow()).toEqual(['chat a'])
    expect(indexer.losses()).toEqual(['chat a'])
  })

  test('does not include messages lost long before', async () => {
    drop('a', 'm1')
    await lostByNow()
    nowMs += 24 * HOUR_MS
    dropChat('a')
    drop('a', 'm2')
    drop('a', 'm3')
    await lostByNow()
    nowMs += 24 * HOUR_MS
    await indexer.pass('values')
    expect(indexer.losses()).toEqual(['chat a', 'message a m1'])
  })

  test('that is back is no loss any more', async () => {
    dropChat('b')
    drop('b', 'm1')
    expect(await lostByNow()).toEqual(['chat b'])
    writeChat('b', ['m1'])
    expect(await lostByNow()).toEqual([])
    expect(indexer.losses()).toEqual([])
  })

  describe.each([
    ['row by row', () => ['m1', 'm2', 'm3'].forEach((id) => drop('a', id))],
    ['by emptied rows', () => ['m1', 'm2', 'm3'].forEach((id) => store.message('a', id, null))],
  ])('that was deleted whole, %s,', (_, dropMessages) => {
    beforeEach(async () => {
      dropChat('a')
      dropMessages()
      await lostByNow()
      nowMs += 24 * HOUR_MS
    })

    const returns: readonly [what: string, comeBack: () => void, lost: readonly string[]][] = [
      ['one row', () => store.message('a', 'm2', { type: 1, text: 'm2 of a' }), ['message a m1', 'message a m3']],
      ['all rows', () => ['m1', 'm2', 'm3'].forEach((id) => store.message('a', id, { type: 1, text: id })), []],
      [
        'a new row',
        () => store.message('a', 'm4', { type: 1, text: 'late' }),
        ['m1', 'm2', 'm3'].map((id) => `message a ${id}`),
      ],
      [
        'its own row alone',
        () => store.chat('a', { name: 'Again', fullConversationHeadersOnly: headers(['m1', 'm2', 'm3']) }),
        ['m1', 'm2', 'm3'].map((id) => `message a ${id}`),
      ],
    ]

    test.each(returns)('and comes back by %s, lives as in a new mirror', async (__, comeBack, lost) => {
      comeBack()
      await indexer.pass()
      const fresh = new Indexer(home.userDir)
      onTestFinished(() => fresh.remove())
      fresh.now = indexer.now
      await fresh.pass()
      expect([fresh.chat('a')?.deletedInCursor, indexer.chat('a')?.deletedInCursor]).toEqual([false, false])
      expect(indexer.losses().toSorted()).toEqual(lost)
      const ofFresh = fresh.messages('a').map(({ id }) => id)
      expect(
        indexer
          .messages('a')
          .filter((one) => !one.deletedInCursor)
          .map(({ id }) => id),
      ).toEqual(ofFresh)
      await indexer.pass('values')
      expect([indexer.chat('a')?.deletedInCursor, indexer.losses().toSorted()]).toEqual([false, lost])
      store.db.exec(`delete from cursorDiskKV where key like '%:a%'`)
      await lostByNow()
      expect([indexer.chat('a')?.deletedInCursor, indexer.losses()[0]]).toEqual([true, 'chat a'])
    })
  })

  test('of which only the messages were deleted still exists', async () => {
    drop('b', 'm1')
    expect(await lostByNow()).toEqual(['message b m1'])
  })

  test('that never had a message is no loss', async () => {
    store.chat('empty', { name: 'Nothing said', createdAt: 1 })
    await indexer.pass('keys')
    dropChat('empty')
    expect(await lostByNow()).toEqual([])
  })
})

describe('a chat in another store', () => {
  const whole = { composerId: 'a', name: 'About a', createdAt: 1 }
  const inWorkspace = (ids: readonly string[]): void => {
    const conversation = ids.map((bubbleId) => ({ bubbleId, type: 1, text: `${bubbleId} of a` }))
    workspace.item('composer.composerData', { allComposers: [{ ...whole, conversation }] })
  }
  let workspace: Store

  beforeEach(async () => {
    workspace = home.workspace('ws', { folder: 'file:///home/ada/shop' })
    writeChat('a', ['m1', 'm2', 'm3'])
    inWorkspace(['m1', 'm2'])
    await indexer.pass()
    nowMs += HOUR_MS
  })

  test('is no loss until that store drops it too, and then has that time', async () => {
    drop('a', 'm2')
    drop('a', 'm3')
    expect(await lostByNow()).toEqual(['message a m3'])
    nowMs += 5 * HOUR_MS
    inWorkspace(['m1'])
    expect(await lostByNow()).toEqual(['message a m2'])
    expect(indexer.lossTimes()[0]).toBe(new Date(nowMs).toISOString())
  })

  test('stays: only messages that the lost store alone had are reported', async () => {
    dropChat('a')
    for (const id of ['m1', 'm2', 'm3']) drop('a', id)
    expect(await lostByNow()).toEqual(['message a m3'])
    inWorkspace([])
    workspace.item('composer.composerData', { allComposers: [] })
    expect(await lostByNow()).toEqual(['chat a'])
  })

  test('with the same texts under other ids is no loss', async () => {
    workspace.item('composer.composerData', {
      allComposers: [{ ...whole, conversation: [{ bubbleId: 'other', type: 1, text: ' m3   of a' }] }],
    })
    await indexer.pass('keys')
    drop('a', 'm3')
    expect(await lostByNow()).toEqual([])
  })
})
