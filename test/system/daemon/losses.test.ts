import { afterEach, beforeEach, expect, test } from 'vitest'
import { headers, type Store } from '../../helpers/cursor.ts'
import { EventStream } from '../../helpers/event-stream.ts'
import { fillStore } from '../../helpers/fill-store.ts'
import { getJson, getStatus, untilReady, untilState, Workplace, type Status } from '../../helpers/spawn-cursordex.ts'
import { waitUntil } from '../../helpers/wait-until.ts'

let place: Workplace
let store: Store
beforeEach(() => {
  place = new Workplace()
  store = place.cursor.global()
})
afterEach(() => place.remove())

interface Losses {
  readonly total: number
  readonly items: readonly { readonly kind: string; readonly chatId: string; readonly messageId: string | null }[]
}
type LossStatus = Status & { readonly losses: { messages: number; chats: number; lastAt: string | null } }

const post = { method: 'POST', headers: { 'content-type': 'application/json' } }
const sync = (url: string, full = false): Promise<{ gone: number }> =>
  getJson(url, '/api/sync', { ...post, body: JSON.stringify({ full }) })
const losses = (url: string): Promise<Losses> => getJson<Losses>(url, '/api/losses?limit=200')

test('a loss is reported as an event, in the list of losses and in the status', async () => {
  fillStore(store, { chats: 3, messagesPerChat: 5 })
  const { url } = await place.serve()
  expect(await untilReady(url)).toMatchObject({ losses: { messages: 0, chats: 0, lastAt: null } })
  const events = await EventStream.open(url)
  store.delete('bubbleId:chat-1:m1-2')
  store.db.exec(`delete from cursorDiskKV where key = 'composerData:chat-2' or key like 'bubbleId:chat-2:%'`)
  await sync(url)
  await waitUntil('both events', () => events.data('loss').length === 2)
  expect(events.data('loss')).toEqual(
    expect.arrayContaining([
      { kind: 'message', chatId: 'chat-1', messageId: 'm1-2' },
      { kind: 'chat', chatId: 'chat-2', messageId: null },
    ]),
  )
  await events.close()
  expect((await losses(url)).items.map(({ kind, chatId }) => `${kind} ${chatId}`).toSorted()).toEqual([
    'chat chat-2',
    'message chat-1',
  ])
  const status = (await getStatus(url)) as LossStatus
  expect(status.losses).toEqual({ messages: 1, chats: 1, lastAt: expect.stringMatching(/^20\d\d-/) })
  expect((await place.run(['status'])).stdout).toMatch(
    /^deleted {4}1 chat and 1 message in Cursor, still here; last noticed /m,
  )
})

async function expectPending(url: string): Promise<void> {
  const status = await untilState(url, 'degraded')
  expect(status.reasons).toEqual([
    expect.stringMatching(
      new RegExp(
        `^pending-loss: ${place.cursor.globalPath}: 200 of \\d+ rows are missing; the store is being compared once more`,
      ),
    ),
  ])
  expect(status.counts).toMatchObject({ deleted: 0 })
  expect(await losses(url)).toMatchObject({ total: 0 })
}

test('after a mass loss the daemon is degraded and says why, new messages are found, and a full sync confirms the loss', async () => {
  fillStore(store, { chats: 20, messagesPerChat: 19 })
  const { url } = await place.serve()
  await untilReady(url)
  store.db.exec(`delete from cursorDiskKV where key like '%:chat-_' or key like '%:chat-_:%'`)
  expect(await sync(url)).toMatchObject({ gone: 0 })
  await expectPending(url)
  const events = await EventStream.open(url)
  store.message('new', 'n1', { type: 1, text: 'the persimmon harvest' })
  store.chat('new', { name: 'New', createdAt: 1, fullConversationHeadersOnly: headers(['n1']) })
  await waitUntil('the new message', async () => {
    const { total } = await getJson<{ total: number }>(url, '/api/search?q=persimmon')
    return total === 1
  })
  await expectPending(url)
  expect(events.data('loss')).toEqual([])
  expect(await sync(url, true)).toMatchObject({ gone: 190 })
  expect(await untilReady(url)).toMatchObject({ reasons: [], losses: { messages: 0, chats: 10 } })
  await waitUntil('the events', () => events.data('loss').length === 10)
  await events.close()
  expect((await losses(url)).items.map(({ kind }) => kind)).toEqual(Array.from({ length: 10 }, () => 'chat'))
  expect(await sync(url, true)).toMatchObject({ changed: 0, added: 0, gone: 0 })
})
