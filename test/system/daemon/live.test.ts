import { afterEach, beforeEach, expect, test } from 'vitest'
import { headers, type Store } from '../../helpers/cursor.ts'
import { EventStream } from '../../helpers/event-stream.ts'
import { fillStore, wordOf } from '../../helpers/fill-store.ts'
import { getJson, untilReady, Workplace, type Status } from '../../helpers/spawn-cursordex.ts'
import { pause, waitUntil } from '../../helpers/wait-until.ts'

let place: Workplace
beforeEach(() => {
  place = new Workplace()
})
afterEach(() => place.remove())

interface Found {
  readonly total: number
  readonly items: readonly { readonly message: { readonly id: string } }[]
}

const search = (url: string, q: string, more = ''): Promise<Found> =>
  getJson<Found>(url, `/api/search?q=${encodeURIComponent(q)}${more}`)

/** Adds a message at the end of a chat as Cursor does: first its row, then the chat's row. */
function say(store: Store, ids: string[], id: string, text: string): void {
  ids.push(id)
  store.db.transaction(() => {
    store.message('live', id, { type: 2 - (ids.length % 2), text, createdAt: new Date().toISOString() })
    store.chat('live', { name: 'Live chat', fullConversationHeadersOnly: headers(ids) })
  })()
}

test('searches, lists and health answer during a first pass, its progress is shown, and a new message is read', async () => {
  const store = place.cursor.global()
  fillStore(store, { chats: 100, messagesPerChat: 50, textLength: 4000 })
  const { url } = await place.serve()
  const times: Record<string, number[]> = {
    '/api/search?q=plum': [],
    '/api/health': [],
    '/api/chats': [],
    '/api/status': [],
  }
  const states: string[] = []
  const progress: Status['progress'][] = []
  const ids: string[] = []
  do {
    for (const [path, taken] of Object.entries(times)) {
      const startedAt = performance.now()
      const answer = await getJson<Partial<Status>>(url, path)
      taken.push(performance.now() - startedAt)
      if (path !== '/api/status') continue
      states.push(String(answer.state))
      progress.push(answer.progress)
    }
    if (ids.length === 0) say(store, ids, 'during', 'the quince was said meanwhile')
  } while (states.at(-1) === 'indexing')
  const slowest = Object.entries(times).map(([path, taken]) => `${path} ${Math.round(Math.max(...taken))} ms`)
  console.log(`during a first pass, ${states.length} rounds: ${slowest.join(', ')}`)
  expect(states.filter((state) => state === 'indexing').length).toBeGreaterThan(2)
  // A message is written meanwhile, so the number of rows is not exact.
  expect(progress).toContainEqual(expect.objectContaining({ total: expect.any(Number) as number }))
  await waitUntil('what was said during the pass', async () => (await search(url, 'quince')).total === 1)
  expect(await untilReady(url)).toMatchObject({ progress: null, counts: { messages: 5001 } })
})

test('events name the message and the chat of a commit', async () => {
  const store = place.cursor.global()
  fillStore(store, { chats: 1, messagesPerChat: 2 })
  const { url } = await place.serve()
  await untilReady(url)
  const events = await EventStream.open(url)
  say(store, [], 'told', 'a medlar')
  await waitUntil('both events', () => events.data('message').length > 0 && events.data('chat').length > 0)
  await events.close()
  expect(events.data('message')).toContainEqual({ id: 'told', chatId: 'live' })
  expect(events.data('chat')).toContainEqual({ id: 'live' })
  expect(events.text).not.toContain('medlar')
})

/** A word that only this version of the answer contains. */
const draftWord = (version: number): string => `quillwort${wordOf(version, 0)}`

test('after twenty rewrites of a streamed message there is one hit, with its last text', async () => {
  const REWRITES = 20
  const store = place.cursor.global()
  fillStore(store, { chats: 2, messagesPerChat: 10 })
  const { url } = await place.serve()
  await untilReady(url)
  const said: string[] = []
  for (let version = 1; version <= REWRITES; version += 1) {
    said.push(`part${version}`)
    // As Cursor streams: it deletes and inserts the row under its key, and the chat's row too.
    store.delete('bubbleId:live:live-0')
    say(store, [], 'live-0', `The answer so far: ${said.join(' ')} ${draftWord(version)}`)
    await pause(15 + ((version * 37) % 40))
  }
  const literal = (q: string): Promise<Found> => search(url, q, '&literal=true')
  await waitUntil('the last text', async () => (await literal(draftWord(REWRITES))).total === 1)
  for (const q of ['answer so far', 'quillwort*', '*uillwor*', '"part 1 part 2"']) {
    expect([q, (await literal(q)).total]).toEqual([q, 1])
  }
  const stale = Array.from({ length: REWRITES - 1 }, (_, index) => draftWord(index + 1))
  const found = await Promise.all(stale.map(async (word) => (await literal(word)).total))
  expect(found.filter((total) => total > 0)).toEqual([])
  expect((await untilReady(url)).counts).toMatchObject({ messages: 21 })
})
