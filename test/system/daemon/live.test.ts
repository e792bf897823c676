import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { TokensAnswer } from '../../../src/api/answers/tokens.ts'
import { headers, type Store } from '../../helpers/cursor.ts'
import { EventStream } from '../../helpers/event-stream.ts'
import { fillStore, wordOf } from '../../helpers/fill-store.ts'
import { getJson, getStatus, untilReady, untilState, Workplace, type Status } from '../../helpers/spawn-cursordex.ts'
import { pause, waitUntil } from '../../helpers/wait-until.ts'
import { watchedInodes } from '../../helpers/watched-inodes.ts'

let place: Workplace
let store: Store
beforeEach(() => {
  place = new Workplace()
  store = place.cursor.global()
})
afterEach(() => place.remove())

interface Found {
  readonly total: number
  readonly items: readonly { readonly message: { readonly id: string } }[]
}

const search = (url: string, q: string, more = ''): Promise<Found> =>
  getJson<Found>(url, `/api/search?q=${encodeURIComponent(q)}${more}`)

/** Adds a message at the end of a chat as Cursor does: first its row, then the chat's row. */
function say(ids: string[], id: string, text: string): void {
  ids.push(id)
  store.db.transaction(() => {
    store.message('live', id, { type: 2 - (ids.length % 2), text, createdAt: new Date().toISOString() })
    store.chat('live', { name: 'Live chat', fullConversationHeadersOnly: headers(ids) })
  })()
}

test('searches, lists and health answer during a first pass, its progress is shown, and a new message is read', async () => {
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
    if (ids.length === 0) say(ids, 'during', 'the quince was said meanwhile')
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
  fillStore(store, { chats: 1, messagesPerChat: 2 })
  const { url } = await place.serve()
  await untilReady(url)
  const events = await EventStream.open(url)
  say([], 'told', 'a medlar')
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
  fillStore(store, { chats: 2, messagesPerChat: 10 })
  const { url } = await place.serve()
  await untilReady(url)
  const said: string[] = []
  for (let version = 1; version <= REWRITES; version += 1) {
    said.push(`part${version}`)
    // As Cursor streams: it deletes and inserts the row under its key, and the chat's row too.
    store.delete('bubbleId:live:live-0')
    say([], 'live-0', `The answer so far: ${said.join(' ')} ${draftWord(version)}`)
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
  say([], 'new', 'the persimmon harvest')
  await waitUntil('the new message', async () => (await search(url, 'persimmon')).total === 1)
  await expectPending(url)
  expect(events.data('loss')).toEqual([])
  expect(await sync(url, true)).toMatchObject({ gone: 190 })
  expect(await untilReady(url)).toMatchObject({ reasons: [], losses: { messages: 0, chats: 10 } })
  await waitUntil('the events', () => events.data('loss').length === 10)
  await events.close()
  expect((await losses(url)).items.map(({ kind }) => kind)).toEqual(Array.from({ length: 10 }, () => 'chat'))
  expect(await sync(url, true)).toMatchObject({ changed: 0, added: 0, gone: 0 })
})

test('every message has an estimate when it can be read, hard texts too, and a kill loses none', async () => {
  const hard = ['a'.repeat(300_000), '数据库'.repeat(50_000), `x${' '.repeat(200_000)}`, '<|endoftext|>'.repeat(5000)]
  fillStore(store, { chats: 5, messagesPerChat: 10 })
  for (const [index, text] of hard.entries()) store.message('hard', `m${index}`, { type: 2, text })
  store.chat('hard', { fullConversationHeadersOnly: headers(hard.map((_, index) => `m${index}`)) })
  const coverageOf = async (at: string): Promise<TokensAnswer['coverage']> =>
    (await getJson<TokensAnswer>(at, '/api/tokens?groupBy=chat')).coverage
  const all = { messages: 54, recorded: 0, estimated: 54, unknown: 0 }
  const first = await place.serve()
  await untilReady(first.url)
  expect(await coverageOf(first.url)).toEqual(all)
  await first.daemon.stop('SIGKILL')
  const second = await place.serve()
  expect(await coverageOf(second.url)).toEqual(all)
})

const MANY = 4000

test('four thousand workspaces without a store made the daemon ready after 39 seconds', async () => {
  fillStore(store, { chats: 1, messagesPerChat: 2 })
  for (let index = 0; index < MANY; index += 1) {
    mkdirSync(join(place.cursor.userDir, 'workspaceStorage', `quiet${index}`), { recursive: true })
  }
  const { daemon, url } = await place.serve()
  const { sources } = await untilReady(url)
  // Each source is an order to the writer, and a row of the mirror.
  expect(sources.filter(({ kind }) => kind === 'workspace-items')).toEqual([])
  const watched = process.platform === 'linux' ? watchedInodes(daemon.pid) : []
  expect(watched.length).toBeLessThan(20)
  say([], 'new', 'the persimmon harvest')
  await waitUntil('the hit', async () => (await search(url, 'persimmon')).total === 1, { withinMs: 30_000 })
  const { path } = place.cursor.workspace(`quiet${MANY - 1}`, { folder: 'file:///home/ada/shop' }, ['live'])
  const isRead = async (): Promise<boolean> =>
    (await getStatus(url)).sources.some((source) => source.path === path && source.state === 'ok')
  await waitUntil('the store of a workspace', isRead, { withinMs: 30_000 })
})
