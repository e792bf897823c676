import { afterEach, beforeEach, expect, test } from 'vitest'
import { composerKvSource } from '../../../src/indexer/sources/composer-kv/index.ts'
import type { PassDepth } from '../../../src/indexer/source.ts'
import { CursorHome, headers, type Store } from '../../helpers/cursor.ts'
import { Indexer } from '../../helpers/in-process.ts'

// Evidence from the rows of chats and messages, from the store to the mirror.

let home: CursorHome
let store: Store
let indexer: Indexer

beforeEach(() => {
  home = new CursorHome()
  store = home.global()
  indexer = new Indexer(home.userDir)
})
afterEach(() => {
  indexer.remove()
  home.remove()
})

function pass(depth: PassDepth = 'nudge'): number {
  let bytesRead = 0
  for (const step of composerKvSource(home.userDir).pass(indexer.mirror, { depth, now: Date.now })) {
    bytesRead += step.bytesRead
  }
  return bytesRead
}

function writeChat(chatId: string, more: Record<string, unknown> = {}, message: Record<string, unknown> = {}): void {
  store.chat(chatId, { name: chatId, fullConversationHeadersOnly: headers(['m1', 'm2']), ...more })
  for (const id of ['m1', 'm2']) store.message(chatId, id, { type: 1, text: `${id} of ${chatId}`, ...message })
}

const placed = (): unknown[] =>
  indexer.mirror
    .prepare(
      `select chats.id, project_source as method, uri from chats left join projects on projects.num = project order by chats.id`,
    )
    .all()

const context = (root: string) => ({ cursorRules: ['a rule'], projectLayouts: [JSON.stringify({ rootPath: root })] })

test('messages that name the same root are one piece of evidence', () => {
  writeChat('a', {}, { workspaceUris: ['file:///yard/mill'] })
  pass()
  expect(placed()).toEqual([{ id: 'a', method: 'workspace-uris', uri: 'file:///yard/mill' }])
  expect(indexer.mirror.prepare('select count(*) as count from evidence').get()).toEqual({ count: 1 })
})

test('a repository is better evidence than a message', () => {
  writeChat('a', { trackedGitRepos: [{ repoPath: '/repo' }] }, { workspaceUris: ['file:///yard/mill'] })
  pass()
  expect(placed()).toEqual([{ id: 'a', method: 'git-repo', uri: 'file:///repo' }])
})

test('a root in a placeholder counts too', () => {
  store.chat('a', { fullConversationHeadersOnly: headers(['m1', 'm2']) })
  store.message('a', 'm1', { type: 1, text: 'said' })
  store.message('a', 'm2', { type: 2, text: '', workspaceUris: ['file:///yard/mill'] })
  pass()
  expect(placed()).toEqual([{ id: 'a', method: 'workspace-uris', uri: 'file:///yard/mill' }])
})

test('a chat without other evidence is placed by its request context, in a reconcile pass', () => {
  writeChat('a')
  writeChat('b', { trackedGitRepos: [{ repoPath: '/repo' }] })
  store.put('messageRequestContext:a:m1', context('/yard/mill'))
  store.put('messageRequestContext:b:m1', context('/yard/mill'))
  pass()
  expect(placed()).toMatchObject([
    { id: 'a', uri: null },
    { id: 'b', uri: 'file:///repo' },
  ])
  pass('reconcile')
  expect(placed()).toEqual([
    { id: 'a', method: 'request-context', uri: 'file:///yard/mill' },
    { id: 'b', method: 'git-repo', uri: 'file:///repo' },
  ])
  const evidence = indexer.mirror.prepare(`select chat_id from evidence where method = 'request-context'`).all()
  expect(evidence).toEqual([{ chat_id: 'a' }])
})

test('a context counts only for its own chat, and a torn or large one has no effect', () => {
  for (const id of ['a', 'torn', 'large', 'gone']) writeChat(id)
  store.put('messageRequestContext:a:more:0f6f2b1e-0000-4000-8000-000000000000', context('/other'))
  store.put('messageRequestContext:torn:m1', '{"projectLayouts":')
  store.put('messageRequestContext:large:m1', Buffer.alloc(32 * 1024 * 1024 + 1, 32))
  store.put('messageRequestContext:gone:m1', null)
  pass('reconcile')
  expect(indexer.mirror.prepare('select * from evidence').all()).toEqual([])
  expect(indexer.mirror.prepare('select * from row_issues').all()).toEqual([])
})

test('a chat is placed even if its first context names no folder', () => {
  writeChat('a')
  store.put('messageRequestContext:a:m1', { projectLayouts: [] })
  store.put('messageRequestContext:a:m2', context('/yard/mill'))
  pass('reconcile')
  expect(placed()).toEqual([{ id: 'a', method: 'request-context', uri: 'file:///yard/mill' }])
})

test('five hundred contexts without a folder do not block the others', () => {
  store.db.transaction(() => {
    for (let chat = 0; chat < 600; chat += 1) {
      writeChat(`c${chat}`, { createdAt: 1_760_000_000_000 + chat })
      store.put(`messageRequestContext:c${chat}:m1`, chat === 0 ? context('/yard/mill') : { projectLayouts: [] })
    }
  })()
  pass()
  pass('reconcile')
  pass('reconcile')
  expect(placed()[0]).toEqual({ id: 'c0', method: 'request-context', uri: 'file:///yard/mill' })
})

test('after a first pass the contexts are read soon, and not after ten minutes', () => {
  writeChat('a')
  const again = (): unknown => {
    const steps = composerKvSource(home.userDir).pass(indexer.mirror, { depth: 'nudge', now: Date.now })
    for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value.again
  }
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
  pass()
  pass('reconcile')
  const count = () => placed().filter((chat) => JSON.stringify(chat).includes('request-context')).length
  expect(count()).toBe(500)
  pass('reconcile')
  expect(count()).toBe(600)
})
