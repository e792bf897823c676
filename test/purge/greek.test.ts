import { afterEach, beforeEach, expect, test } from 'vitest'
import { Indexer } from '../helpers/in-process.ts'
import { findBytes, PurgeHere } from '../helpers/purge-world.ts'
import { CursorHome, headers } from '../../src/sample/cursor-home.ts'

// The lower case of a Greek text depends on what follows it.
let home: CursorHome
let indexer: Indexer
beforeEach(() => {
  home = new CursorHome()
  const store = home.global()
  store.chat('a', { name: 'A', fullConversationHeadersOnly: headers(['a1', 'a2']) })
  store.message('a', 'a1', { type: 1, text: 'ΚΩΔΙΚΟΣ42', createdAt: '2026-02-01T09:00:00.000Z' })
  store.message('a', 'a2', { type: 2, text: 'ΜΥΣΤΙΚΟΣΑΒ', createdAt: '2026-02-01T09:01:00.000Z' })
  indexer = new Indexer(home.userDir)
  indexer.pass()
  indexer.mirror.close()
})
afterEach(() => {
  indexer.remove()
  home.remove()
})

test('what stands in a message to the letter is purged', async () => {
  const report = await new PurgeHere(indexer.folder).purge({ match: 'ΜΥΣΤΙΚΟΣ' })
  expect(report).toMatchObject({ messages: 1, check: { found: [] } })
  expect(findBytes(indexer.folder, 'ΜΥΣΤΙΚΟΣ')).toEqual([])
})
