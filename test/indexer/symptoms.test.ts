import { mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { CursorHome, headers, type Store } from '../helpers/cursor.ts'
import { ArchiveFolder } from '../helpers/archive-folder.ts'
import { Indexer } from '../helpers/in-process.ts'
import { spoilPage } from '../helpers/spoil-page.ts'

// Each of these was a bug once.

let home: CursorHome
let store: Store
let indexer: Indexer

beforeEach(() => {
  home = new CursorHome()
  store = home.global()
  indexer = new Indexer(home.userDir)
})

afterEach(() => {
  vi.unstubAllEnvs()
  indexer.remove()
  home.remove()
})

const one = (sql: string, ...params: unknown[]): unknown => indexer.mirror.prepare(sql).get(...params)

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

test('an update in place is read even if a sync follows at once', () => {
  writeChat('a', { m1: 'short' })
  indexer.pass()
  updateInPlace('bubbleId:a:m1', { type: 2, text: 'a good deal longer than it was before' })
  expect(indexer.pass('reconcile')).toMatchObject({ changed: 1 })
})

test('a tool call that ended in place is not left running when other rows are written', () => {
  writeChat('a', { m1: 'running' })
  for (let row = 0; row < 600; row += 1) store.put(`agentKv:blob:${row}`, 'noise')
  writeChat('b', { m1: 'other' })
  indexer.pass()
  updateInPlace('bubbleId:a:m1', { type: 2, text: 'completed, with its output', createdAt: new Date().toISOString() })
  indexer.pass('count')
  expect(indexer.thread('a')).toEqual([['m1', 0, 'completed, with its output']])
})

test('a store is not called missing or empty while its first pass runs', () => {
  for (let chat = 0; chat < 40; chat += 1)
    writeChat(`chat-${chat}`, Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`m${at}`, 'text'])))
  const steps = indexer.steps()
  expect(steps.next().done).toBe(false)
  expect(one('select state, total_rows as rows from sources')).toEqual({ state: 'ok', rows: 840 })
  steps.return({ added: 0, changed: 0, gone: 0, ends: [], backlog: 0, needsMerge: false, isWhole: false })
})

test('a store that never existed is still called missing when it is looked for again', () => {
  const nowhere = new Indexer(join(home.root, 'nowhere'))
  try {
    nowhere.pass('reconcile')
    expect(nowhere.pass().ends[0]).toMatchObject({ kind: 'composer-kv', state: 'missing' })
    expect(nowhere.mirror.prepare('select distinct state from sources').pluck().all()).toEqual(['missing'])
  } finally {
    nowhere.remove()
  }
})

test('a list that vanished with its store is called missing at once', () => {
  writeChat('a', { m1: 'first' })
  store.item('composer.composerHeaders', { allComposers: [{ composerId: 'a', name: 'Trees' }] })
  indexer.pass()
  renameSync(store.path, `${store.path}.away`)
  expect(indexer.pass().ends).toContainEqual(expect.objectContaining({ kind: 'global-items', state: 'missing' }))
})

test.each([
  ['a middle', 40],
  ['the last', -1],
])('%s page of a store, damaged, does not make other chats unreadable', (_, which) => {
  writeManyAndClose('plant an apple '.repeat(40))
  spoilPage(store.path, 'table-leaf', which)
  expect(indexer.pass().ends[0]).toMatchObject({ kind: 'composer-kv', state: 'ok' })
  const unread = one(`select count(*) as n from row_issues where reason = 'unreadable-page'`) as { n: number }
  expect(unread.n).toBeGreaterThan(0)
  expect(one('select count(*) as n from source_rows')).toEqual({ n: 600 - unread.n })
  for (const depth of ['nudge', 'recent', 'sweep', 'full'] as const) {
    expect(indexer.pass(depth)).toMatchObject({ added: 0, changed: 0, gone: 0 })
    expect(one('select state from sources')).toEqual({ state: 'ok' })
  }
  store = home.global()
})

test.each([
  ['a page', 40],
  ['the last page', -1],
])('%s of a store that was read before, damaged since, is reported', (_, which) => {
  writeManyAndClose('plant an apple '.repeat(40))
  indexer.pass('full')
  const bytes = spoilPage(store.path, 'table-leaf', which)
  expect(indexer.pass('full')).toMatchObject({ added: 0, gone: 0 })
  const issues = `select count(*) as n from row_issues where reason = 'unreadable-page'`
  const unreadable = one(issues) as { n: number }
  expect(unreadable.n).toBeGreaterThan(0)
  expect(one('select count(*) as n from messages where is_live = 1 and is_orphan = 0')).toEqual({ n: 400 })
  expect(indexer.pass('full')).toMatchObject({ added: 0, changed: 0, gone: 0 })
  expect(one(issues)).toEqual(unreadable)
  writeFileSync(store.path, bytes)
  indexer.pass('full')
  expect(one('select count(*) as n from row_issues')).toEqual({ n: 0 })
  expect(one('select count(*) as n from messages where is_live = 1 and is_orphan = 0')).toEqual({ n: 400 })
  store = home.global()
})

describe.each([
  ['the first page', 'index-inner', 0],
  ['a leaf', 'index-leaf', 3],
] as const)('%s of the index, damaged, does not make the store unreadable', (_, kind, at) => {
  const words = 'plant an apple '.repeat(4)
  const expectAll = (chats: number): void => {
    expect(one('select count(*) as n from source_rows where is_live = 1')).toEqual({ n: 3 * chats })
    expect(indexer.thread('chat-7')).toHaveLength(2)
    expect(one('select count(*) as n from row_issues')).toEqual({ n: 0 })
  }
  beforeEach(() => {
    for (let chat = 0; chat < 200; chat += 1) writeChat(`chat-${chat}`, { m1: words, m2: words })
  })

  test('while Cursor has it open', () => {
    store.db.pragma('wal_checkpoint(truncate)')
    writeChat('chat-late', { m1: words, m2: words })
    spoilPage(store.path, kind, at)
    mkdirSync(join(home.root, 'scratch'))
    vi.stubEnv('TMPDIR', join(home.root, 'scratch'))
    expect(indexer.pass().ends[0]).toMatchObject({
      state: 'corrupt',
      detail: expect.stringContaining('without the index'),
    })
    expectAll(201)
    expect(readdirSync(join(home.root, 'scratch'))).toEqual([])
  })

  test('and is read once a minute, nothing counts as gone, and after a repair it is read as usual', () => {
    store.db.pragma('journal_mode = delete')
    store.db.close()
    const bytes = spoilPage(store.path, kind, at)
    expect(indexer.pass().ends[0]).toMatchObject({ state: 'corrupt' })
    expectAll(200)
    for (const [index, depth] of (['nudge', 'recent', 'sweep', 'reconcile', 'full'] as const).entries()) {
      const again = indexer.pass(depth).ends[0]?.again
      expect(again?.every(({ inMs }) => inMs >= 60_000)).toBe(true)
      const later = Date.now() + 120_000 * (1 + index)
      indexer.now = () => later
      expect(indexer.pass(depth)).toMatchObject({ added: 0, changed: 0, gone: 0 })
      expect(one('select state, last_sync_at as syncedAt from sources')).toMatchObject({
        state: 'corrupt',
        syncedAt: expect.any(Number),
      })
    }
    writeFileSync(store.path, bytes)
    store = home.global()
    writeChat('chat-7', { m1: words, m2: words, m3: 'late' })
    expect(indexer.pass().ends[0]).toMatchObject({ state: 'ok', detail: null })
    expect(indexer.thread('chat-7')).toHaveLength(3)
  })
})

test('a store on another disk, behind a link, is read with its WAL', () => {
  writeChat('a', { m1: 'first' })
  store.db.close()
  const elsewhere = join(home.root, 'other-disk')
  mkdirSync(elsewhere)
  renameSync(store.path, join(elsewhere, 'moved.vscdb'))
  symlinkSync(join(elsewhere, 'moved.vscdb'), store.path)
  store = home.global()
  indexer.pass()
  writeChat('a', { m1: 'first', m2: 'late' })
  expect(readdirSync(elsewhere)).toContain('moved.vscdb-wal')
  indexer.pass()
  expect(indexer.thread('a').map(([id]) => id)).toEqual(['m1', 'm2'])
})

test('a workspace on another disk, behind a link, is read', () => {
  const workspace = home.workspace('wa', { folder: 'file:///w/shop' })
  const conversation = [{ bubbleId: 'b1', type: 1, text: 'plant an apple' }]
  workspace.item('composer.composerData', { allComposers: [{ composerId: 'c', name: 'Trees', conversation }] })
  const folder = join(home.userDir, 'workspaceStorage', 'wa')
  renameSync(folder, join(home.root, 'other-disk'))
  symlinkSync(join(home.root, 'other-disk'), folder)
  for (const name of ['itself', 'nowhere']) symlinkSync(name, join(home.userDir, 'workspaceStorage', name))
  indexer.pass()
  expect(indexer.thread('c')).toEqual([['b1', 0, 'plant an apple']])
})

test.each([
  ['the largest rowid', '9223372036854775807'],
  ['a rowid too large for a number', '5000000000000000001'],
])('a row at %s is read and does not stop its store', (_, rowid) => {
  writeChat('a', { m1: 'first' })
  store.db.exec(
    `insert into cursorDiskKV (rowid, key, value) values (${rowid}, 'bubbleId:a:far', '{"type":1,"text":"far"}')`,
  )
  expect(indexer.pass().ends[0]).toMatchObject({ kind: 'composer-kv', state: 'ok' })
  expect(one('select count(*) as n from messages')).toEqual({ n: 2 })
  updateInPlace('bubbleId:a:far', { type: 1, text: 'near' })
  indexer.pass()
  expect(one(`select count(*) as n from message_terms where message_terms match 'near'`)).toEqual({ n: 1 })
  expect(indexer.pass('full')).toMatchObject({ added: 0, changed: 0, gone: 0 })
})

test('a chat can move back to the project it came from', () => {
  const inFolder = (name: string): void =>
    writeChat('a', { m1: 'text' }, { workspaceIdentifier: { uri: { external: `file:///${name}` } } })
  for (const name of ['shop', 'shed', 'shop']) {
    inFolder(name)
    indexer.pass()
  }
  expect(one('select projects.name from chats join projects on projects.num = project')).toEqual({ name: 'shop' })
})

test('a chat deleted in one of two stores is not marked as deleted while the other has it', () => {
  const second = new CursorHome()
  const copy = second.global()
  const both = new Indexer(home.userDir, second.userDir)
  writeChat('a', { m1: 'text' })
  copy.chat('a', { name: 'a', fullConversationHeadersOnly: headers(['m1']) })
  copy.message('a', 'm1', { type: 2, text: 'text' })
  both.pass()
  copy.db.exec('delete from cursorDiskKV')
  both.pass('full')
  expect(both.mirror.prepare('select is_live from messages where is_orphan <> 2').all()).toEqual([{ is_live: 1 }])
  expect(both.mirror.prepare('select is_live from chats').all()).toEqual([{ is_live: 1 }])
  store.db.exec('delete from cursorDiskKV')
  both.pass('full')
  expect(both.mirror.prepare('select is_live from messages where is_orphan <> 2').all()).toEqual([{ is_live: 0 }])
  both.remove()
  second.remove()
})

test('a tombstone deletes its chat, however large its neighbours are', () => {
  store.chat('tomb', null)
  store.message('tomb', 'm1', { type: 1, text: 'left over' })
  for (let row = 0; row < 20; row += 1) store.message('large', `m${row}`, { type: 1, text: 'x'.repeat(1024 * 1024) })
  indexer.pass()
  expect(one(`select own_row, is_live from chats where id = 'tomb'`)).toEqual({ own_row: 'gone', is_live: 0 })
})

test('a row read before its chat gets the role from the chat', () => {
  store.message('a', 'm1', { text: 'asked before the chat was written' })
  indexer.pass()
  store.chat('a', { fullConversationHeadersOnly: [{ bubbleId: 'm1', type: 1 }] })
  indexer.pass()
  expect(one('select role from messages')).toEqual({ role: 'user' })
})

test('a row with an empty id does not take the place of an entry without an id', () => {
  store.chat('a', { fullConversationHeadersOnly: [{ bubbleId: 'm1' }, { type: 2 }] })
  store.message('a', 'm1', { type: 1, text: 'first' })
  store.put('bubbleId:a:m2', { type: 2, bubbleId: '', text: 'not named' })
  indexer.pass()
  expect(indexer.thread('a').map(([id, position]) => [id, position])).toEqual([
    ['m1', 0],
    ['m2', null],
  ])
})

test('a torn row does not hide the good copy of its message in the chat', () => {
  store.chat('a', { conversation: [{ bubbleId: 'm1', type: 1, text: 'the copy' }] })
  store.put('bubbleId:a:m1', '{"type":1,"text":"to')
  indexer.pass()
  expect(indexer.thread('a')).toEqual([['m1', 0, 'the copy']])
  expect(one('select reason from row_issues')).toEqual({ reason: 'bad-json' })
})

test('a position is not on a row that was deleted before it could be read', () => {
  writeChat('a', { m1: 'first' })
  indexer.pass()
  for (let moment = 1; moment <= 10; moment += 1) {
    const key = `bubbleId:a:gone${moment}`
    store.put(key, { _v: 3, type: 2, text: `said at moment ${moment}` })
    let calls = 0
    indexer.now = () => {
      calls += 1
      if (calls === moment) store.delete(key)
      return Date.now()
    }
    indexer.pass()
    indexer.now = Date.now
    expect(
      one(`select watermark_key as key from sources where kind = 'composer-kv' and not exists (
        select 1 from source_rows where source = num and key = watermark_key)`),
    ).toBe(undefined)
    store.delete(key)
    indexer.pass()
  }
})

describe('a store of an unknown layout is not called read and empty:', () => {
  test.each([
    ['text that is not UTF-8', `pragma encoding = 'UTF-16le'; create table cursorDiskKV (key text unique, value blob)`],
    ['a view', 'create table t (key, value); create view cursorDiskKV as select * from t'],
    ['no rowids', 'create table cursorDiskKV (key text primary key, value blob) without rowid'],
  ])('%s', (_, sql) => {
    const other = new CursorHome()
    mkdirSync(dirname(other.globalPath), { recursive: true })
    const db = new Database(other.globalPath)
    db.exec(sql)
    db.close()
    const reader = new Indexer(other.userDir)
    expect(reader.pass().ends[0]).toMatchObject({ kind: 'composer-kv', state: 'unreadable' })
    reader.remove()
    other.remove()
  })
})

test('one chat with an absurd count of lines does not stop archives', async () => {
  const absurd = { totalLinesAdded: 2 ** 50, totalLinesRemoved: 2 ** 41, filesChangedCount: 3 }
  writeChat('a', { m1: 'much was changed' }, absurd)
  indexer.pass()
  const folder = new ArchiveFolder()
  const { manifest } = await folder.run(indexer.mirror)
  expect(manifest.chatCount).toBe(1)
  const counts = 'select lines_added as added, lines_removed as removed, files_changed as files from chats'
  expect(one(counts)).toEqual({ added: null, removed: null, files: 3 })
  folder.remove()
})
