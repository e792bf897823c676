import { afterEach, beforeEach, expect, test } from 'vitest'
import { headers, type Store } from '../../helpers/cursor.ts'
import { fillStore, wordOf } from '../../helpers/fill-store.ts'
import { getJson, getStatus, untilReady, Workplace } from '../../helpers/spawn-cursordex.ts'
import { pause, waitUntil } from '../../helpers/wait-until.ts'

/** Less than ten seconds: deeper passes find everything later, and these tests are about the nudge. */
const BY_NUDGE_MS = 9000

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

test('messages that another process commits are found over HTTP and by the command', async () => {
  const store = place.cursor.global()
  fillStore(store, { chats: 5, messagesPerChat: 10 })
  const { url } = await place.serve()
  await untilReady(url)
  say(store, [], 'first', 'the persimmon harvest')
  const found = await waitUntil('the hit', async () => {
    const answer = await search(url, 'persimmon')
    return answer.total === 1 ? answer : null
  })
  expect(found.items[0]?.message.id).toBe('first')
  const { exitCode, stdout } = await place.run(['search', 'persimmon', 'harvest', '--json'])
  expect(exitCode).toBe(0)
  expect((JSON.parse(stdout) as Found).items.map(({ message }) => message.id)).toEqual(['first'])
})

test('of thirty messages none is lost, and each is found by the pass that its commit causes', async () => {
  const store = place.cursor.global()
  fillStore(store, { chats: 20, messagesPerChat: 20 })
  const { url } = await place.serve()
  await untilReady(url)
  const ids: string[] = []
  const delays: number[] = []
  for (let index = 0; index < 30; index += 1) {
    const word = wordOf(777, index)
    say(store, ids, `live-${index}`, `a word nobody said before: ${word}`)
    const committedAt = performance.now()
    await waitUntil(word, async () => (await search(url, word)).total === 1, { withinMs: BY_NUDGE_MS, everyMs: 3 })
    delays.push(performance.now() - committedAt)
    await pause((index * 37) % 45)
  }
  const sorted = delays.toSorted((left, right) => left - right).map(Math.round)
  console.log(`commit to hit: p50 ${sorted[14]} ms, p95 ${sorted[28]} ms, max ${sorted[29]} ms`)
  expect((await untilReady(url)).counts).toMatchObject({ chats: 21, messages: 430 })
})

test('searches, lists and health answer during a first pass, and a new message is read', async () => {
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
  const ids: string[] = []
  do {
    for (const [path, taken] of Object.entries(times)) {
      const startedAt = performance.now()
      const answer = await getJson<{ state?: string }>(url, path)
      taken.push(performance.now() - startedAt)
      if (path === '/api/status') states.push(String(answer.state))
    }
    if (ids.length === 0) say(store, ids, 'during', 'the quince was said meanwhile')
  } while (states.at(-1) === 'indexing')
  const slowest = Object.entries(times).map(([path, taken]) => `${path} ${Math.round(Math.max(...taken))} ms`)
  console.log(`during a first pass, ${states.length} rounds: ${slowest.join(', ')}`)
  expect(states.filter((state) => state === 'indexing').length).toBeGreaterThan(2)
  await waitUntil('what was said during the pass', async () => (await search(url, 'quince')).total === 1)
  expect((await untilReady(url)).counts).toMatchObject({ messages: 5001 })
})

test('the progress of a first pass is shown while it runs, and is null afterwards', async () => {
  fillStore(place.cursor.global(), { chats: 400, messagesPerChat: 50, textLength: 1000 })
  const { url } = await place.serve()
  const progress = await waitUntil('progress', async () => (await getStatus(url)).progress, { everyMs: 10 })
  // The newest 25 chats, with 51 rows each, are read before the total is known.
  expect(progress).toMatchObject({ total: 375 * 51 })
  expect(await untilReady(url)).toMatchObject({ progress: null })
})

test('events name the message and the chat of a commit', async () => {
  const store = place.cursor.global()
  fillStore(store, { chats: 1, messagesPerChat: 2 })
  const { url } = await place.serve()
  await untilReady(url)
  const abort = new AbortController()
  const response = await fetch(`${url}/api/events`, { signal: abort.signal })
  let text = ''
  const reading = (async () => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString('utf8')
  })().catch(() => undefined)
  await waitUntil('the first event', () => text.includes('event: status'))
  say(store, [], 'told', 'a medlar')
  await waitUntil('both events', () => text.includes('event: message') && text.includes('event: chat'))
  abort.abort()
  await reading
  const data = (type: string): unknown[] =>
    [...text.matchAll(new RegExp(`event: ${type}\\ndata: (.*)\\n`, 'g'))].map(([, json]) => JSON.parse(json ?? 'null'))
  expect(data('message')).toContainEqual({ id: 'told', chatId: 'live' })
  expect(data('chat')).toContainEqual({ id: 'live' })
  expect(text).not.toContain('medlar')
})

/** A word that only this version of the answer contains. */
const draftWord = (version: number): string => `quillwort${wordOf(version, 0)}`

test('after fifty rewrites of a streamed message there is one hit, with its last text', async () => {
  const REWRITES = 50
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
