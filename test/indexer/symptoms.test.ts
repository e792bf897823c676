import { mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeEach, describe, expect, test } from 'vitest'
import { CursorHome, headers, type Store } from '../helpers/cursor.ts'
import { ArchiveFolder } from '../helpers/archive-folder.ts'
import { Indexer, openIndexed } from '../helpers/in-process.ts'
import { spoilPage } from '../helpers/spoil-page.ts'

// Each of these was a bug once.

let home: CursorHome
let store: Store
let indexer: Indexer
beforeEach(() => {
  ;({ home, store, indexer } = openIndexed())
})

const unreadable = (): number => indexer.issues.filter((issue) => issue.endsWith(' unreadable-page')).length

function updateInPlace(key: string, value: Record<string, unknown>): void {
  store.db.prepare('update cursorDiskKV set value = ? where key = ?').run(JSON.stringify(value), key)
}

function writeChat(chatId: string, texts: Readonly<Record<string, string>>, more: Record<string, unknown> = {}): void {
  const now = new Date().toISOString()
  store.chat(chatId, { name: chatId, fullConversationHeadersOnly: headers(Object.keys(texts)), ...more })
  for (const [id, text] of Object.entries(texts)) store.message(chatId, id, { type: 2, text, createdAt: now })
}

/** 600 rows of 200 chats, all in one file. */
function writeManyAndClose(words: string): void {
  for (let at = 0; at < 200; at += 1) writeChat(`chat-${at}`, { m1: words, m2: words })
  store.db.pragma('journal_mode = delete')
  store.db.close()
}

test('an update in place is read even if a sync follows at once', async () => {
  writeChat('a', { m1: 'short' })
  await indexer.pass()
  updateInPlace('bubbleId:a:m1', { type: 2, text: 'a good deal longer than it was before' })
  expect(await indexer.pass('keys')).toMatchObject({ changed: 1 })
})

test('a tool call that ended in place is not left running when other rows are written', async () => {
  writeChat('a', { m1: 'running' })
  for (let row = 0; row < 600; row += 1) store.put(`agentKv:blob:${row}`, 'noise')
  writeChat('b', { m1: 'other' })
  await indexer.pass()
  updateInPlace('bubbleId:a:m1', { type: 2, text: 'completed, with its output', createdAt: new Date().toISOString() })
  await indexer.pass('keys')
  expect(indexer.thread('a')).toEqual([['m1', 0, 'completed, with its output']])
})

test('a store is not called missing or empty while its first pass runs', async () => {
  for (let chat = 0; chat < 40; chat += 1)
    writeChat(`chat-${chat}`, Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`m${at}`, 'text'])))
  await indexer.stoppedPass(() => true)
  expect(indexer.sources[0]).toMatchObject({ state: 'ok', rows: 840 })
})

test('a store that never existed is still called missing when it is looked for again', async () => {
  const nowhere = new Indexer(join(home.root, 'nowhere'))
  try {
    await nowhere.pass('keys')
    expect((await nowhere.pass()).ends[0]).toMatchObject({ kind: 'composer-kv', state: 'missing' })
  } finally {
    nowhere.remove()
  }
})

test('a list that vanished with its store is called missing at once', async () => {
  writeChat('a', { m1: 'first' })
  store.item('composer.composerHeaders', { allComposers: [{ composerId: 'a', name: 'Trees' }] })
  await indexer.pass()
  renameSync(store.path, `${store.path}.away`)
  expect((await indexer.pass()).ends).toContainEqual(
    expect.objectContaining({ kind: 'global-items', state: 'missing' }),
  )
})

test.each([
  ['a middle', 40],
  ['the last', -1],
])('%s page of a store, damaged, does not make other chats unreadable', async (_, which) => {
  writeManyAndClose('plant an apple '.repeat(40))
  spoilPage(store.path, 'table-leaf', which)
  expect((await indexer.pass()).ends[0]).toMatchObject({ kind: 'composer-kv', state: 'ok' })
  expect(unreadable()).toBeGreaterThan(0)
  const { live } = indexer.counts
  expect(live).toBeGreaterThan(300)
  for (const depth of ['tail', 'keys', 'values'] as const) {
    expect(await indexer.pass(depth)).toMatchObject({ added: 0, changed: 0, gone: 0 })
    expect(indexer.counts.live).toBe(live)
  }
  store = home.global()
})

test.each([
  ['a page', 40],
  ['the last page', -1],
])('%s of a store that was read before, damaged since, is reported', async (_, which) => {
  writeManyAndClose('plant an apple '.repeat(40))
  await indexer.pass('values')
  const bytes = spoilPage(store.path, 'table-leaf', which)
  expect(await indexer.pass('values')).toMatchObject({ added: 0, gone: 0 })
  const before = unreadable()
  expect(before).toBeGreaterThan(0)
  expect(indexer.counts).toEqual({ live: 400, gone: 0 })
  expect(await indexer.pass('values')).toMatchObject({ added: 0, changed: 0, gone: 0 })
  expect(unreadable()).toBe(before)
  writeFileSync(store.path, bytes)
  await indexer.pass('values')
  expect(indexer.issues).toEqual([])
  expect(indexer.counts).toEqual({ live: 400, gone: 0 })
  store = home.global()
})

test('a store on another disk, behind a link, is read with its WAL', async () => {
  writeChat('a', { m1: 'first' })
  store.db.close()
  const elsewhere = join(home.root, 'other-disk')
  mkdirSync(elsewhere)
  renameSync(store.path, join(elsewhere, 'moved.vscdb'))
  symlinkSync(join(elsewhere, 'moved.vscdb'), store.path)
  store = home.global()
  await indexer.pass()
  writeChat('a', { m1: 'first', m2: 'late' })
  expect(readdirSync(elsewhere)).toContain('moved.vscdb-wal')
  await indexer.pass()
  expect(indexer.thread('a').map(([id]) => id)).toEqual(['m1', 'm2'])
})

test('a workspace on another disk, behind a link, is read', async () => {
  const workspace = home.workspace('wa', { folder: 'file:///w/shop' })
  const conversation = [{ bubbleId: 'b1', type: 1, text: 'plant an apple' }]
  workspace.item('composer.composerData', { allComposers: [{ composerId: 'c', name: 'Trees', conversation }] })
  const folder = join(home.userDir, 'workspaceStorage', 'wa')
  renameSync(folder, join(home.root, 'other-disk'))
  symlinkSync(join(home.root, 'other-disk'), folder)
  for (const name of ['itself', 'nowhere']) symlinkSync(name, join(home.userDir, 'workspaceStorage', name))
  await indexer.pass()
  expect(indexer.thread('c')).toEqual([['b1', 0, 'plant an apple']])
})

test.each([
  ['the largest rowid', '9223372036854775807', 'tail'],
  ['a rowid too large for a number', '5000000000000000001', 'tail'],
  ['the least rowid', '-9223372036854775808', 'values'],
  ['a rowid too small for a number', '-5000000000000000001', 'values'],
  ['a rowid below zero', '-2', 'values'],
] as const)('a row at %s is read and does not stop its store', async (_, rowid, depth) => {
  writeChat('a', { m1: 'first' })
  store.db.exec(
    `insert into cursorDiskKV (rowid, key, value) values (${rowid}, 'bubbleId:a:far', '{"type":1,"text":"far"}')`,
  )
  expect((await indexer.pass()).ends[0]).toMatchObject({ kind: 'composer-kv', state: 'ok' })
  expect(indexer.counts.live).toBe(2)
  updateInPlace('bubbleId:a:far', { type: 1, text: 'near' })
  await indexer.pass(depth)
  expect(indexer.found('near')).toBe(1)
  expect(await indexer.pass('values')).toMatchObject({ added: 0, changed: 0, gone: 0 })
})

test('a chat can move back to the project it came from', async () => {
  const inFolder = (name: string): void =>
    writeChat('a', { m1: 'text' }, { workspaceIdentifier: { uri: { external: `file:///${name}` } } })
  for (const name of ['shop', 'shed', 'shop']) {
    inFolder(name)
    await indexer.pass()
  }
  expect(indexer.chat('a')?.project?.name).toBe('shop')
})

test('a chat deleted in one of two stores is not marked as deleted while the other has it', async () => {
  const second = new CursorHome()
  const copy = second.global()
  const both = new Indexer(home.userDir, second.userDir)
  writeChat('a', { m1: 'text' })
  copy.chat('a', { name: 'a', fullConversationHeadersOnly: headers(['m1']) })
  copy.message('a', 'm1', { type: 2, text: 'text' })
  await both.pass()
  copy.db.exec('delete from cursorDiskKV')
  await both.pass('values')
  expect([both.counts, both.chat('a')?.deletedInCursor]).toEqual([{ live: 1, gone: 0 }, false])
  store.db.exec('delete from cursorDiskKV')
  await both.pass('values')
  expect(both.counts).toEqual({ live: 0, gone: 1 })
  both.remove()
  second.remove()
})

test('a tombstone deletes its chat, however large its neighbours are', async () => {
  store.chat('tomb', null)
  store.message('tomb', 'm1', { type: 1, text: 'left over' })
  for (let row = 0; row < 20; row += 1) store.message('large', `m${row}`, { type: 1, text: 'x'.repeat(1024 * 1024) })
  await indexer.pass()
  expect(indexer.chat('tomb')).toMatchObject({ deletedInCursor: true, messageCount: 1 })
})

test('a row read before its chat gets the role from the chat', async () => {
  store.message('a', 'm1', { text: 'asked before the chat was written' })
  await indexer.pass()
  store.chat('a', { fullConversationHeadersOnly: [{ bubbleId: 'm1', type: 1 }] })
  await indexer.pass()
  expect(indexer.messages('a')).toMatchObject([{ role: 'user' }])
  expect(indexer.chat('a')?.titleSource).toBe('first-message')
})

test('a row with an empty id does not take the place of an entry without an id', async () => {
  store.chat('a', { fullConversationHeadersOnly: [{ bubbleId: 'm1' }, { type: 2 }] })
  store.message('a', 'm1', { type: 1, text: 'first' })
  store.put('bubbleId:a:m2', { type: 2, bubbleId: '', text: 'not named' })
  await indexer.pass()
  expect(indexer.thread('a').map(([id, position]) => [id, position])).toEqual([
    ['m1', 0],
    ['m2', null],
  ])
})

test('a torn row does not hide the good copy of its message in the chat', async () => {
  store.chat('a', { conversation: [{ bubbleId: 'm1', type: 1, text: 'the copy' }] })
  store.put('bubbleId:a:m1', '{"type":1,"text":"to')
  await indexer.pass()
  expect(indexer.thread('a')).toEqual([['m1', 0, 'the copy']])
  expect(indexer.issues).toEqual(['bubbleId:a:m1 bad-json'])
})

describe('a store of an unknown layout is not called read and empty:', () => {
  test.each([
    ['text that is not UTF-8', `pragma encoding = 'UTF-16le'; create table cursorDiskKV (key text unique, value blob)`],
    ['a view', 'create table t (key, value); create view cursorDiskKV as select * from t'],
    ['no rowids', 'create table cursorDiskKV (key text primary key, value blob) without rowid'],
  ])('%s', async (_, sql) => {
    const other = new CursorHome()
    mkdirSync(dirname(other.globalPath), { recursive: true })
    const db = new Database(other.globalPath)
    db.exec(sql)
    db.close()
    const reader = new Indexer(other.userDir)
    expect((await reader.pass()).ends[0]).toMatchObject({ kind: 'composer-kv', state: 'unreadable' })
    reader.remove()
    other.remove()
  })
})

test('one chat with an absurd count of lines does not stop archives', async () => {
  const absurd = { totalLinesAdded: 2 ** 50, totalLinesRemoved: 2 ** 41, filesChangedCount: 3 }
  writeChat('a', { m1: 'much was changed' }, absurd)
  await indexer.pass()
  const folder = new ArchiveFolder()
  expect(await folder.run(indexer.mirror)).toMatchObject({ packed: 1, leftOut: [] })
  expect(indexer.chat('a')).toMatchObject({ linesAdded: null, linesRemoved: null, filesChanged: 3 })
  folder.remove()
})
