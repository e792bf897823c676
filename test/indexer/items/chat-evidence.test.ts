import { beforeEach, expect, test } from 'vitest'
import { headers, type Store } from '../../helpers/cursor.ts'
import { type Indexer, openIndexed } from '../../helpers/in-process.ts'

// Evidence from the rows of chats and messages, from the store to the mirror.

let store: Store
let indexer: Indexer
beforeEach(() => {
  ;({ store, indexer } = openIndexed())
})

function writeChat(chatId: string, more: Record<string, unknown> = {}, message: Record<string, unknown> = {}): void {
  store.chat(chatId, { name: chatId, fullConversationHeadersOnly: headers(['m1', 'm2']), ...more })
  for (const id of ['m1', 'm2']) store.message(chatId, id, { type: 1, text: `${id} of ${chatId}`, ...message })
}

const placed = (): unknown[] => indexer.chats.map(({ id }) => [id, indexer.placeOf(id).source, indexer.placeOf(id).uri])

test('messages that name the same root are one piece of evidence', async () => {
  writeChat('a', {}, { workspaceUris: ['file:///yard/mill'] })
  await indexer.pass()
  expect(placed()).toEqual([['a', 'workspace-uris', 'file:///yard/mill']])
})

test('a repository is better evidence than a message', async () => {
  writeChat('a', { trackedGitRepos: [{ repoPath: '/repo' }] }, { workspaceUris: ['file:///yard/mill'] })
  await indexer.pass()
  expect(placed()).toEqual([['a', 'git-repo', 'file:///repo']])
})

test('a root in a placeholder counts too', async () => {
  store.chat('a', { fullConversationHeadersOnly: headers(['m1', 'm2']) })
  store.message('a', 'm1', { type: 1, text: 'said' })
  store.message('a', 'm2', { type: 2, text: '', workspaceUris: ['file:///yard/mill'] })
  await indexer.pass()
  expect(placed()).toEqual([['a', 'workspace-uris', 'file:///yard/mill']])
})
