import { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ChatDetail } from '../../src/api/answers/chats.ts'
import type { Status } from '../../src/api/answers/status.ts'
import { asChatId } from '../../src/model/ids.ts'
import { headers } from '../helpers/cursor.ts'
import { TrackingStore, trackingCanary } from '../helpers/eras/tracking.ts'
import { line, lines, query, said, writeTranscript } from '../helpers/eras/transcripts.ts'
import { bytesBelow } from '../helpers/oracle/canaries.ts'
import { PurgeHere } from '../helpers/purge-world.ts'
import { spoilPage } from '../helpers/spoil-page.ts'
import { World } from '../helpers/world.ts'

const T0 = Date.UTC(2026, 3, 1, 10)
const at = (minutes: number): number => T0 + minutes * 60_000
const iso = (minutes: number): string => new Date(at(minutes)).toISOString()

let world: World
let store: TrackingStore
beforeEach(async () => {
  world = await World.open()
  store = new TrackingStore(world.cursorHome)
})
afterEach(async () => {
  store.close()
  await world.remove()
})

/** A chat that has neither times nor a model. */
function transcript(id: string): void {
  const spoken = [line('user', said(query(`asked in ${id}`))), line('assistant', said(`answered in ${id}`))]
  writeTranscript(world.cursorHome, 'w-shop', `${id}.jsonl`, lines(...spoken))
}

const chat = (id: string) => world.get<ChatDetail>(`/api/chats/${id}`)

/** Fills the store with rows of the chat `a`. */
function fill(count: number): void {
  store.db.transaction(() => {
    for (let n = 0; n < count; n += 1) store.record({ conversationId: 'a', timestamp: T0 + n, model: 'm' })
  })()
}

describe('a chat that has neither times nor a model', () => {
  beforeEach(() => {
    transcript('a')
    store.record({ conversationId: 'a', timestamp: at(0), model: 'early' })
    store.record({ conversationId: 'a', timestamp: at(90), model: 'late' })
    store.record({ conversationId: 'a', timestamp: at(95), model: 'default' })
  })

  test('takes both from Cursor’s record of its code, marked as such, and again when the record grows', async () => {
    await world.sync()
    expect(await chat('a')).toMatchObject({
      createdAt: iso(0),
      lastActivityAt: iso(95),
      model: 'late',
      models: ['late', 'early'],
      modelSource: 'tracking',
    })
    const { items } = await world.get<{ items: object[] }>('/api/chats/a/messages')
    expect(items).toMatchObject([0, 1].map(() => ({ createdAt: iso(0), createdAtSource: 'tracking' })))
    store.record({ conversationId: 'a', timestamp: at(200), model: 'newest' })
    await world.sync()
    expect(await chat('a')).toMatchObject({ lastActivityAt: iso(200), models: ['newest', 'late', 'early'] })
  })

  test('keeps what was recorded when Cursor deletes it, or the whole file', async () => {
    await world.sync()
    const before = await chat('a')
    store.db.exec('delete from ai_code_hashes')
    await world.sync(true)
    store.close()
    rmSync(join(world.cursorHome, 'ai-tracking'), { recursive: true })
    await world.sync(true)
    expect(await chat('a')).toEqual(before)
  })
})

test('facts in the chat’s own rows are left unchanged, and a recorded chat that is in no store does not exist', async () => {
  const shop = world.home.global()
  const modelConfig = { modelName: 'mine' }
  const messages = headers(['m1'])
  const times = { createdAt: at(-60), lastUpdatedAt: at(-30) }
  shop.chat('own', { ...times, modelConfig, fullConversationHeadersOnly: messages })
  shop.message('own', 'm1', { type: 1, text: 'hello' })
  store.record({ conversationId: 'own', timestamp: at(0), model: 'other' })
  store.record({ conversationId: 'nowhere', timestamp: at(0), model: 'other' })
  await world.sync()
  const mine = { createdAt: iso(-60), lastActivityAt: iso(-30), models: ['mine'], modelSource: 'cursor' }
  expect(await chat('own')).toMatchObject(mine)
  expect((await world.request('/api/chats/nowhere')).status).toBe(404)
})

test('what a person typed or accepted from a completion counts for no chat', async () => {
  transcript('a')
  for (const source of ['human', 'tab']) store.record({ conversationId: 'a', timestamp: at(0), model: 'm', source })
  store.record({ conversationId: '', timestamp: at(0), model: 'm' })
  await world.sync()
  expect(await chat('a')).toMatchObject({ createdAt: null, model: null, modelSource: null })
  store.record({ conversationId: 'a', timestamp: at(1), model: 'm', source: 'cli' })
  await world.sync()
  expect(await chat('a')).toMatchObject({ createdAt: iso(1), model: 'm', modelSource: 'tracking' })
  expect((await world.get<Status>('/api/status')).issues).toEqual({})
})

test('code, file names, summaries and contents in the same file never reach the data folder', async () => {
  transcript('a')
  store.record({ conversationId: 'a', timestamp: at(0), model: 'm' })
  store.score('ab'.repeat(20), 4)
  store.hide('a')
  await world.sync(true)
  expect(readFileSync(store.path).includes(trackingCanary)).toBe(true)
  expect((await chat('a')).model).toBe('m')
  expect(bytesBelow(world.settings.dataDir)).not.toContain(trackingCanary)
})

test('nothing is left of a purged chat, and nothing comes back', async () => {
  for (const id of ['a', 'b']) {
    transcript(id)
    store.record({ conversationId: id, timestamp: at(0), model: 'm' })
  }
  await world.sync()
  await new PurgeHere(world.settings.dataDir).purge({ chatIds: [asChatId('a')] })
  await world.restart()
  store.record({ conversationId: 'a', timestamp: at(1), model: 'm' })
  await world.sync(true)
  expect(world.mirror.prepare('select chat_id from tracked').pluck().all()).toEqual(['b'])
})

test('ten thousand lines become a row per chat and hour, and rows under used numbers are read', async () => {
  fill(10_000)
  await world.sync()
  expect(world.mirror.prepare('select count(*) from tracked').pluck().get()).toBe(1)
  transcript('later')
  store.db.exec('delete from ai_code_hashes where rowid > 10')
  store.record({ conversationId: 'later', timestamp: at(2), model: 'n' })
  await world.sync()
  expect(await chat('later')).toMatchObject({ createdAt: iso(2), model: 'n' })
})

test('the file is not read if the kind is switched off', async () => {
  const kinds = async (each: World) => (await each.get<Status>('/api/status')).sources.map(({ kind }) => kind)
  await world.sync()
  expect(await kinds(world)).toContain('tracking')
  const without = await World.open({ home: world.home, config: { sources: { tracking: { enabled: false } } } })
  await without.sync()
  expect(await kinds(without)).not.toContain('tracking')
  await without.remove()
})

const SHA = 'ab'.repeat(20)
const HUGE = 'x'.repeat(3_000_000)
const none = (): void => undefined
const recordOther = (more: object) => () => store.record({ conversationId: 'b', timestamp: T0, model: 'n', ...more })
const sql = (text: string) => () => store.db.exec(text)

/** How a store is harmed, how its file is after it was closed, its state, the issue, and whether the chat has its model. */
type Harm = readonly [
  name: string,
  harm: () => unknown,
  harmFile: (path: string) => unknown,
  state: string,
  issue: string | null,
  isTold: boolean,
]

const harms: readonly Harm[] = [
  ['an empty file', none, (path) => truncateSync(path), 'ok', null, false],
  ['no database', none, (path) => writeFileSync(path, 'this is no database'), 'corrupt', null, false],
  ['a file cut off in its head', none, (path) => truncateSync(path, 60), 'corrupt', null, false],
  ['a file cut off in the middle', () => fill(2000), (path) => truncateSync(path, 64 * 4096), 'corrupt', null, false],
  ['a damaged page', () => fill(2000), (path) => spoilPage(path, 'table-leaf', -3), 'ok', 'unreadable-page', true],
  [
    'a folder in its place',
    none,
    (path) => {
      rmSync(path)
      mkdirSync(path)
    },
    'unreadable',
    null,
    false,
  ],
  ['no table', sql('drop table ai_code_hashes; drop table scored_commits'), none, 'ok', null, false],
  ['no table of commits', sql('drop table scored_commits'), none, 'ok', null, true],
  ['no model column', sql('alter table ai_code_hashes drop column model'), none, 'ok', null, false],
  ['no chat column', sql('alter table ai_code_hashes drop column conversationId'), none, 'ok', null, false],
  ['no time column', sql('alter table ai_code_hashes drop column timestamp'), none, 'ok', 'unknown-shape', false],
  [
    'a view in place of the table',
    sql(`alter table ai_code_hashes rename to other; create view ai_code_hashes as select * from other`),
    none,
    'ok',
    null,
    false,
  ],
  ['bytes for an id', recordOther({ conversationId: Buffer.from([255]) }), none, 'ok', 'unknown-shape', true],
  ['a huge id', recordOther({ conversationId: HUGE }), none, 'ok', 'unknown-shape', true],
  ['words for a time', recordOther({ timestamp: 'soon', createdAt: 'later' }), none, 'ok', 'unknown-shape', true],
  ['a time before Cursor', recordOther({ timestamp: 12, createdAt: 9e15 }), none, 'ok', 'unknown-shape', true],
  ['a huge model', recordOther({ model: HUGE }), none, 'ok', null, true],
  ['commits that are none', () => store.score('HEAD', 'many'), none, 'ok', 'unknown-shape', true],
  [
    'the greatest row number',
    sql(`insert into ai_code_hashes (rowid, hash, source, createdAt) values (9223372036854775807, 'h', 'composer', 1)`),
    none,
    'ok',
    null,
    true,
  ],
]

test.each(harms)('%s is one issue at most, and costs nothing else', async (_, harm, harmFile, state, issue, isTold) => {
  transcript('a')
  store.record({ conversationId: 'a', timestamp: T0, model: 'm' })
  store.score(SHA, 3)
  harm()
  store.close()
  harmFile(store.path)
  for (const isFull of [false, true]) {
    await world.sync(isFull)
    const { sources, issues } = await world.get<Status>('/api/status')
    expect(sources).toContainEqual(expect.objectContaining({ kind: 'tracking', state }))
    expect(issues).toEqual(issue === null ? {} : { [issue]: 1 })
    expect((await chat('a')).model).toBe(isTold ? 'm' : null)
  }
})
