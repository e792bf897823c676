import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DoctorReport } from '../../src/cli/commands/doctor/doctor-report.ts'
import { CursorHome, headers, type Store } from '../helpers/cursor.ts'
import { run, type Run } from '../cli/fake-world.ts'
import { Indexer } from '../helpers/in-process.ts'

// A store of a future Cursor: known fields are read, and unknown ones are reported.

const VERSION = 99

let home: CursorHome
let indexer: Indexer

beforeEach(() => {
  home = new CursorHome()
  indexer = new Indexer(home.userDir)
  writeFuture(home.global())
})
afterEach(() => {
  indexer.remove()
  home.remove()
})

function writeFuture(store: Store): void {
  const at = (minute: number): string => new Date(Date.UTC(2028, 0, 1, 9, minute)).toISOString()
  const future = { _v: VERSION, flavour: { isNew: true } }
  // The list of messages has another name, so they are ordered by time.
  store.chat('renamed', { ...future, heading: 'Orchard', threadOrder: headers(['m1', 'm2', 'm3', 'm4']) })
  store.message('renamed', 'm2', { ...future, type: 2, text: 'planted a peartree', createdAt: at(2) })
  store.message('renamed', 'm1', { ...future, type: 1, text: 'plant an appletree', createdAt: at(1) })
  store.message('renamed', 'm3', { ...future, type: 1, body: 'a quincetree under a new name', createdAt: at(3) })
  const call = { name: 'read_file', status: 'completed', result: 'a figtree', verdict: { isFinal: true } }
  store.message('renamed', 'm4', { ...future, type: 2, body: 'too', toolFormerData: call, createdAt: at(4) })
  // All its names are known, but its version is not.
  store.chat('intact', { ...future, name: 'Hedge', fullConversationHeadersOnly: headers(['m1']) })
  store.message('intact', 'm1', { ...future, type: 1, text: 'cut the plumtree' })
  // From an earlier version; such chats stay in the file of a newer Cursor.
  store.chat('older', { name: 'Meadow', conversation: [{ bubbleId: 'i1', type: 1, text: 'an inline cherrytree' }] })
  const turns = [{ role: 'user', text: 'the words of a walnuttree' }]
  store.put('threadData:0b1f2c3d-4e5f-6071-8293-a4b5c6d7e8f9', { _v: 1, messages: turns })
  store.db.exec('drop table ItemTable; create table threads (id text primary key, title text, content text)')
  store.db.prepare('insert into threads values (?, ?, ?)').run('t1', 'Forest', 'the words of a beechtree')
}

const doctor = (...flags: readonly string[]): Promise<Run> =>
  run(['doctor', ...flags, '--data-dir', indexer.folder, '--cursor-user-dir', home.userDir, '--cursor-home', ''])

const found = (word: string): unknown =>
  indexer.mirror.prepare('select count(*) from message_terms where message_terms match ?').pluck().get(word)

test('a store of an unknown version is read, whatever else it contains', () => {
  expect(indexer.pass().ends).toMatchObject([
    { kind: 'composer-kv', state: 'ok' },
    { kind: 'agent-blobs', state: 'ok' },
    { kind: 'pasted-text', state: 'ok' },
    { kind: 'global-items', state: 'ok' },
  ])
  expect(indexer.mirror.prepare('select id, title from chats order by id').all()).toEqual([
    { id: 'intact', title: 'Hedge' },
    { id: 'older', title: 'Meadow' },
    { id: 'renamed', title: 'plant an appletree' },
  ])
  expect(indexer.mirror.prepare('select key, reason from row_issues').all()).toEqual([
    { key: 'bubbleId:renamed:m3', reason: 'unknown-shape' },
  ])
})

test('messages in known fields are found, and are ordered by time if the list has another name', () => {
  indexer.pass()
  const known = ['appletree', 'peartree', 'figtree', 'plumtree', 'cherrytree']
  expect(known.map((word) => [word, found(word)])).toEqual(known.map((word) => [word, 1]))
  expect(indexer.thread('renamed').map(([id]) => id)).toEqual(['m1', 'm2', 'm4'])
})

test('unknown fields are not guessed at, and a second pass changes nothing', () => {
  indexer.pass()
  for (const word of ['quincetree', 'walnuttree', 'beechtree']) expect([word, found(word)]).toEqual([word, 0])
  expect(indexer.pass('full')).toMatchObject({ added: 0, changed: 0, gone: 0 })
})

test('a row that is rewritten with its old field names is read', () => {
  indexer.pass()
  const row = { _v: VERSION, type: 1, text: 'a quincetree under its old name' }
  home.global().message('renamed', 'm3', row)
  expect(indexer.pass()).toMatchObject({ added: 1 })
  expect(found('quincetree')).toBe(1)
})

test('doctor names the unknown family, table and version, and exits with 1', async () => {
  indexer.pass()
  const { exitCode, out, err } = await doctor('--json')
  expect(exitCode).toBe(1)
  expect(err).toContain('looks like chats')
  const report = JSON.parse(out) as DoctorReport
  expect(report.unknownChats).toMatchObject([
    { table: 'cursorDiskKV', family: 'threadData:<id>', rows: 1, isChatLike: true },
    { table: 'threads', family: null, rows: 1, isChatLike: true },
  ])
  const store = report.stores.find(({ kind }) => kind === 'composer-kv')
  expect(store?.survey?.unknownVersions).toEqual(
    expect.arrayContaining(['composerData:<id>', 'bubbleId:<id>'].map((family) => ({ family, versions: [VERSION] }))),
  )
  expect(store).toMatchObject({ state: 'ok', accounting: { rows: 9, read: 7, unknown: 1, unaccounted: 0 } })
})

test('doctor says so in sentences, without any text of a chat', async () => {
  indexer.pass()
  const { out, err } = await doctor()
  for (const expected of [
    'threadData:<id> 1 row',
    'table threads 1 row; looks like chats',
    'bubbleId:<id> has version 99',
  ]) {
    expect(out).toContain(expected)
  }
  expect(out + err).not.toMatch(/walnut|beech|Forest/)
})
