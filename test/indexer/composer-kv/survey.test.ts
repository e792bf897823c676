import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { judgeItem, judgeKey } from '../../../src/indexer/sources/composer-kv/survey/families.ts'
import { looksLikeChat, surveyStore } from '../../../src/indexer/sources/composer-kv/survey/survey.ts'
import type { FamilySurvey, Shape, TableSurvey } from '../../../src/indexer/survey.ts'
import { CursorHome, headers, type Store } from '../../helpers/cursor.ts'

let home: CursorHome
let store: Store

beforeEach(() => {
  home = new CursorHome()
  store = home.global()
})

afterEach(() => home.remove())

const UUID = '0b1f2c3d-4e5f-6071-8293-a4b5c6d7e8f9'

function tableOf(name: string): TableSurvey | undefined {
  return surveyStore(store.path).tables.find((table) => table.name === name)
}

function familyOf(name: string): FamilySurvey | undefined {
  return tableOf('cursorDiskKV')?.families.find((family) => family.name === name)
}

test('counts and measures each family, and counts every row once', () => {
  store.chat('a', { fullConversationHeadersOnly: headers(['m1']) })
  store.message('a', 'm1', { type: 1, text: 'x' })
  store.message('a', 'm2', null)
  store.put(`checkpointId:a:${UUID}`, 'ö'.repeat(100))
  store.put(null, 'x')
  store.put('cursorAuth/accessToken', 'x')
  const table = tableOf('cursorDiskKV')
  expect(table).toMatchObject({ use: 'rows', rows: 6, nullKeys: 1, privateRows: 1, columns: ['key', 'value'] })
  const named = table?.families.map(({ name, use, rows, nullValues }) => [name, use, rows, nullValues])
  expect(named?.sort()).toEqual([
    ['bubbleId:<id>', 'read', 2, 1],
    ['checkpointId:<id>', 'noise', 1, 0],
    ['composerData:<id>', 'read', 1, 0],
  ])
  expect(familyOf('checkpointId:<id>')?.bytes).toBe(200)
})

test('a store with many rows is read to its end', () => {
  store.db.transaction(() => {
    for (let at = 0; at < 45_000; at += 1) store.put(`agentKv:blob:${at}`, 'x')
  })()
  expect(tableOf('cursorDiskKV')).toMatchObject({ rows: 45_000, bytes: 45_000 })
  expect(familyOf('agentKv:blob:<id>')).toMatchObject({ rows: 45_000 })
  expect(familyOf('agentKv:blob:<id>')?.sampled).toBeLessThanOrEqual(20)
})

test('rowids too large for a JavaScript number are read too', () => {
  const insert = store.db.prepare('insert into cursorDiskKV (rowid, key, value) values (?, ?, ?)')
  for (const rowid of [-(2n ** 62n), 0n, 2n ** 62n, 2n ** 62n + 1n]) insert.run(rowid, `newKv:${rowid}`, '{"text":"x"}')
  expect(familyOf('newKv:<id>')).toMatchObject({ rows: 4, sampled: 4, isChatLike: true })
})

test('a value that is too large is counted but not examined', () => {
  store.put('newKv:1', { text: 'x'.repeat(300_000) })
  expect(familyOf('newKv:<id>')).toMatchObject({ rows: 1, sampled: 0, isChatLike: false })
})

test('later versions are reported, and only for rows that are read', () => {
  store.chat('a', { _v: 99 })
  store.chat('b', { _v: 16 })
  store.chat('c', { _v: 'secret-words' })
  store.put('checkpointId:a:b', { _v: 77 })
  expect(familyOf('composerData:<id>')?.unknownVersions).toHaveLength(2)
  expect(familyOf('composerData:<id>')?.unknownVersions).toEqual(expect.arrayContaining([99, 'other']))
  expect(familyOf('checkpointId:<id>')?.unknownVersions).toEqual([])
})

test('the newest rows are among the samples', () => {
  for (let at = 0; at < 200; at += 1) store.message('a', `m${at}`, { text: 'x' })
  store.message('a', 'last', { _v: 4, text: 'x' })
  expect(familyOf('bubbleId:<id>')).toMatchObject({ unknownVersions: [4] })
})

describe('tables', () => {
  test('that were never seen are unknown, and are reported as chat-like if they contain chats', () => {
    store.db.exec('create table turns (id text, role text, body text)')
    store.db.exec('create table plain (id integer, size integer)')
    const insert = store.db.prepare('insert into turns values (?, ?, ?)')
    insert.run(UUID, 'user', JSON.stringify({ messages: [{ text: 'the plum' }] }))
    expect(tableOf('turns')).toMatchObject({
      use: 'unknown',
      rows: 1,
      isChatLike: true,
      columns: ['id', 'role', 'body'],
    })
    expect(tableOf('plain')).toMatchObject({ use: 'unknown', rows: 0, isChatLike: false })
  })

  test('with chats under a known key are still unknown', () => {
    store.db.exec('create table cursorDiskKV2 (key text unique, value blob)')
    const insert = store.db.prepare('insert into cursorDiskKV2 values (?, ?)')
    insert.run(`bubbleId:a:${UUID}`, JSON.stringify({ text: 'x' }))
    const [family] = tableOf('cursorDiskKV2')?.families ?? []
    expect(family).toMatchObject({ name: 'bubbleId:<id>', use: 'unknown', isChatLike: true })
  })

  test('that are views, virtual or without rowids do not affect the others', () => {
    store.db.exec(`
      create view broken as select lost from nowhere;
      create virtual table found using fts5 (words);
      create table fixed (key text primary key, value blob) without rowid;
      create table odd (rowid text, key text, value blob);
    `)
    store.db.prepare('insert into fixed values (?, ?)').run('a', '{"text":"x"}')
    expect(surveyStore(store.path).state).toBe('ok')
    expect(tableOf('broken')).toMatchObject({ use: 'unknown', rows: null })
    expect(tableOf('found')).toMatchObject({ use: 'unknown', rows: null })
    expect(tableOf('fixed')).toMatchObject({ rows: 1, isChatLike: true })
    expect(tableOf('odd')).toMatchObject({ rows: 0 })
  })

  test('of settings are reported with known names only', () => {
    store.item('composer.composerHeaders', { allComposers: [] })
    store.item('workbench.panel.aichat.view.aichat.chatdata', { tabs: [] })
    store.item('secret://words', 'x')
    store.item('telemetry.machineId', 'x')
    store.item('cursorAuth/cachedEmail', 'x')
    store.item('somebody.else', 'x')
    store.item(`workbench.panel.composerChatViewPane.${UUID}`, '{}')
    const table = tableOf('ItemTable')
    expect(table).toMatchObject({ use: 'list', rows: 7, privateRows: 3, unnamedRows: 1 })
    expect(table?.families.map(({ name, use }) => `${name} ${use}`).sort()).toEqual([
      'composer.composerHeaders read',
      'workbench.panel.aichat.view.aichat.chatdata read',
      'workbench.panel.composerChatViewPane.<id> noise',
    ])
  })
})

test.each([
  ['newKv:alpha', 'newKv:<id>'],
  [`${UUID}:cloudAgent:metadata`, '<id>:cloudAgent:metadata'],
  [`${UUID}:other`, '<id>:<id>'],
  ['ada@example.com:x', '<id>:<id>'],
  [`newThing.${'a1'.repeat(32)}`, 'newThing.<id>'],
  [`newThing-${UUID}`, 'newThing-<id>'],
  ['newThing.2026-01-01', 'newThing.<id>'],
  ['ada.lovelace', '<id>'],
  ['/home/ada/x', '<id>'],
  ['inlineDiffsData', 'inlineDiffsData'],
  [`composerData:task-call_1\nfc_1`, 'composerData:<id>'],
  ['', '<id>'],
])('the family of %j is %j', (key, name) => {
  expect(judgeKey(key)).toMatchObject({ kind: 'family', name })
})

test.each([
  `inlineDiffUndoRedo-${UUID}-${UUID}`,
  'composer.autoAccept.lastSeenHead',
  'composer.autoAccept.lastSeenHead.main',
])('%s is noise, and no unknown key', (key) => {
  expect(judgeKey(key)).toMatchObject({ kind: 'family', use: 'noise' })
})

test('the commits that Cursor saw last are known in the settings table too', () => {
  expect(judgeItem('composer.autoAccept.lastSeenHead.main')).toMatchObject({ kind: 'family', use: 'noise' })
})

test.each(['cursorAuth/accessToken', 'secret://x', 'openai.apiKey', 'storage.machineId', 'telemetry.x', 'user.email'])(
  '%s is private',
  (key) => {
    expect(judgeKey(key)).toEqual({ kind: 'private' })
    expect(judgeItem(key)).toEqual({ kind: 'private' })
  },
)

test('text by an author is not private', () => {
  expect(judgeKey('authorNotes:x')).toMatchObject({ kind: 'family', use: 'unknown' })
})

test.each([
  [{ text: 'x' }, true],
  [[{ role: 'user', content: [] }], true],
  [{ deep: { messages: [{}] } }, true],
  [{ inner: '{"bubbles":[1]}' }, true],
  [{ conversation: {} }, false],
  [{ text: ' ' }, false],
  [{ fates: [1, 2] }, false],
  ['text', false],
  [null, false],
])('whether %j looks like a chat: %s', (value, isChatLike) => {
  expect(looksLikeChat(value)).toBe(isChatLike)
})

test('a shape contains names, types and lengths, and no values', () => {
  store.chat('a', { name: 'The plum', list: ['ab', 'abcd'], map: { '/home/ada/x': 1, [UUID]: 2, fine: null } })
  const fields: Readonly<Record<string, Shape>> = familyOf('composerData:<id>')?.shape.objects?.fields ?? {}
  expect(fields['name']).toEqual({ strings: { count: 1, lengthMin: 8, lengthMax: 8 } })
  expect(fields['list']?.arrays).toEqual({
    count: 1,
    lengthMin: 2,
    lengthMax: 2,
    items: { strings: { count: 2, lengthMin: 2, lengthMax: 4 } },
  })
  expect(fields['map']?.objects?.fields).toEqual({ '<key>': { numbers: 2 }, fine: { nulls: 1 } })
})

test('a file that is not a database, and a missing one, are reported', () => {
  expect(surveyStore(`${store.path}-none`)).toEqual({ state: 'missing', detail: null, tables: [] })
})

test('a survey leaves nothing beside the store', () => {
  store.chat('a', { text: 'x' })
  home.close()
  const before = readdirSync(dirname(home.globalPath))
  surveyStore(home.globalPath)
  expect(readdirSync(dirname(home.globalPath))).toEqual(before)
})
