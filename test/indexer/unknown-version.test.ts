import { beforeEach, expect, test } from 'vitest'
import { type CursorHome, headers, type Store } from '../helpers/cursor.ts'
import { openIndexed, type Indexer } from '../helpers/in-process.ts'

// A store of a future Cursor: known fields are read, and unknown ones are reported.

const VERSION = 99

let home: CursorHome
let indexer: Indexer
beforeEach(() => {
  ;({ home, indexer } = openIndexed())
  writeFuture(home.global())
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

test('of a store of an unknown version known fields are read, and unknown ones are not guessed at', async () => {
  expect((await indexer.pass()).ends).toMatchObject([
    { kind: 'composer-kv', state: 'ok' },
    { kind: 'agent-blobs', state: 'ok' },
    { kind: 'pasted-text', state: 'ok' },
    { kind: 'global-items', state: 'ok' },
  ])
  expect(indexer.chats).toMatchObject([
    { id: 'intact', title: 'Hedge' },
    { id: 'older', title: 'Meadow' },
    { id: 'renamed', title: 'plant an appletree' },
  ])
  expect(indexer.issues).toEqual(['bubbleId:renamed:m3 unknown-shape'])
  const known = ['appletree', 'peartree', 'figtree', 'plumtree', 'cherrytree']
  expect(known.map((word) => [word, indexer.found(word)])).toEqual(known.map((word) => [word, 1]))
  // The list has another name, so they are ordered by time.
  expect(indexer.thread('renamed').map(([id]) => id)).toEqual(['m1', 'm2', 'm4'])
  for (const word of ['quincetree', 'walnuttree', 'beechtree']) expect([word, indexer.found(word)]).toEqual([word, 0])
  expect(await indexer.pass('values')).toMatchObject({ added: 0, changed: 0, gone: 0 })
})

test('a row that is rewritten with its old field names is read', async () => {
  await indexer.pass()
  const row = { _v: VERSION, type: 1, text: 'a quincetree under its old name' }
  home.global().message('renamed', 'm3', row)
  expect(await indexer.pass()).toMatchObject({ added: 1 })
  expect(indexer.found('quincetree')).toBe(1)
})
