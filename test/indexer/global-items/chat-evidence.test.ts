import { beforeEach, expect, test } from 'vitest'
import { type CursorHome, headers, type Store } from '../../helpers/cursor.ts'
import { Indexer, openIndexed } from '../../helpers/in-process.ts'

// Evidence from the rows of chats and messages, from the store to the mirror.

let home: CursorHome
let store: Store
let indexer: Indexer
beforeEach(() => {
  ;({ home, store, indexer } = openIndexed())
})

function writeChat(chatId: string, more: Record<string, unknown> = {}, message: Record<string, unknown> = {}): void {
  store.chat(chatId, { name: chatId, fullConversationHeadersOnly: headers(['m1', 'm2']), ...more })
  for (const id of ['m1', 'm2']) store.message(chatId, id, { type: 1, text: `${id} of ${chatId}`, ...message })
}

const placed = (): unknown[] => indexer.chats.map(({ id }) => [id, indexer.placeOf(id).source, indexer.placeOf(id).uri])

const context = (root: string) => ({ cursorRules: ['a rule'], projectLayouts: [JSON.stringify({ rootPath: root })] })

test('messages that name the same root are one piece of evidence', () => {
  writeChat('a', {}, { workspaceUris: ['file:///yard/mill'] })
  indexer.pass()
  expect(placed()).toEqual([['a', 'workspace-uris', 'file:///yard/mill']])
})

test('a repository is better evidence than a message', () => {
  writeChat('a', { trackedGitRepos: [{ repoPath: '/repo' }] }, { workspaceUris: ['file:///yard/mill'] })
  indexer.pass()
  expect(placed()).toEqual([['a', 'git-repo', 'file:///repo']])
})

test('a root in a placeholder counts too', () => {
  store.chat('a', { fullConversationHeadersOnly: headers(['m1', 'm2']) })
  store.message('a', 'm1', { type: 1, text: 'said' })
  store.message('a', 'm2', { type: 2, text: '', workspaceUris: ['file:///yard/mill'] })
  indexer.pass()
  expect(placed()).toEqual([['a', 'workspace-uris', 'file:///yard/mill']])
})

test('a chat without other evidence is placed by its request context', () => {
  writeChat('a')
  writeChat('b', { trackedGitRepos: [{ repoPath: '/repo' }] })
  store.put('messageRequestContext:a:m1', context('/yard/mill'))
  store.put('messageRequestContext:b:m1', context('/yard/mill'))
  indexer.pass()
  indexer.pass('reconcile')
  expect(placed()).toEqual([
    ['a', 'request-context', 'file:///yard/mill'],
    ['b', 'git-repo', 'file:///repo'],
  ])
})

test('a context counts only for its own chat, and a torn or large one has no effect', () => {
  for (const id of ['a', 'torn', 'large', 'gone']) writeChat(id)
  store.put('messageRequestContext:a:more:0f6f2b1e-0000-4000-8000-000000000000', context('/other'))
  store.put('messageRequestContext:torn:m1', '{"projectLayouts":')
  store.put('messageRequestContext:large:m1', Buffer.alloc(32 * 1024 * 1024 + 1, 32))
  store.put('messageRequestContext:gone:m1', null)
  indexer.pass('reconcile')
  expect(placed()).toEqual(['a', 'gone', 'large', 'torn'].map((id) => [id, null, null]))
  expect(indexer.issues).toEqual([])
})

test('a chat is placed even if its first context names no folder', () => {
  writeChat('a')
  store.put('messageRequestContext:a:m1', { projectLayouts: [] })
  store.put('messageRequestContext:a:m2', context('/yard/mill'))
  indexer.pass('reconcile')
  expect(placed()).toEqual([['a', 'request-context', 'file:///yard/mill']])
})

test('five hundred contexts without a folder do not block the others', () => {
  store.db.transaction(() => {
    for (let chat = 0; chat < 600; chat += 1) {
      writeChat(`c${chat}`, { createdAt: 1_760_000_000_000 + chat })
      store.put(`messageRequestContext:c${chat}:m1`, chat === 0 ? context('/yard/mill') : { projectLayouts: [] })
    }
  })()
  indexer.pass()
  indexer.pass('reconcile')
  indexer.pass('reconcile')
  expect(indexer.placeOf('c0').source).toBe('request-context')
})

test('after a first pass the contexts are read soon, and not after ten minutes', () => {
  writeChat('a')
  const again = (): unknown => indexer.pass().ends[0]?.again
  expect(again()).not.toContainEqual({ depth: 'reconcile', inMs: 2000 })
  indexer.remove()
  indexer = new Indexer(home.userDir)
  store.put('messageRequestContext:a:m1', context('/yard/mill'))
  expect(again()).toContainEqual({ depth: 'reconcile', inMs: 2000 })
  expect(again()).not.toContainEqual({ depth: 'reconcile', inMs: 2000 })
})

test('at most five hundred contexts are read per pass', () => {
  store.db.transaction(() => {
    for (let chat = 0; chat < 600; chat += 1) {
      writeChat(`c${chat}`)
      store.put(`messageRequestContext:c${chat}:m1`, context('/yard/mill'))
    }
  })()
  indexer.pass()
  const count = () => indexer.chats.filter(({ projectSource }) => projectSource === 'request-context').length
  expect(count()).toBe(500)
  indexer.pass('reconcile')
  expect(count()).toBe(600)
})
