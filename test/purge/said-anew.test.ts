import { afterEach, beforeEach, expect, test } from 'vitest'
import { Indexer } from '../helpers/in-process.ts'
import { PurgeHere } from '../helpers/purge-world.ts'
import { CursorHome, headers } from '../../src/sample/cursor-home.ts'

// New messages that hold what was purged are new, and come in.
const at = (minute: number): string => new Date(Date.UTC(2026, 1, 1, 9, minute)).toISOString()
const readFile = (path: string, contents: string) => ({
  name: 'read_file',
  status: 'completed',
  toolCallId: contents,
  params: JSON.stringify({ path }),
  result: JSON.stringify({ contents }),
})
let home: CursorHome
let indexer: Indexer

beforeEach(() => {
  home = new CursorHome()
  indexer = new Indexer(home.userDir)
})
afterEach(() => {
  indexer.remove()
  home.remove()
})

test('a new message that reads the same file comes in', async () => {
  const store = home.global()
  const path = '/home/ada/walnut-inc/index.ts'
  store.chat('a', { name: 'A', fullConversationHeadersOnly: headers(['a1']) })
  store.message('a', 'a1', { type: 2, text: '', toolFormerData: readFile(path, 'one'), createdAt: at(1) })
  indexer.pass()
  indexer.mirror.close()
  await new PurgeHere(indexer.folder).purge({ match: 'walnut-inc' })
  store.chat('b', { name: 'B', fullConversationHeadersOnly: headers(['b1', 'b2', 'b3']) })
  store.message('b', 'b1', { type: 1, text: 'read it', createdAt: at(11) })
  store.message('b', 'b2', { type: 2, text: 'News', toolFormerData: readFile(path, 'two'), createdAt: at(12) })
  store.message('b', 'b3', { type: 2, text: 'This one of walnut-inc does come in', createdAt: at(13) })
  indexer.restart()
  indexer.pass('full')
  expect(indexer.thread('b').map(([id]) => id)).toEqual(['b1', 'b2', 'b3'])
})

test('the same words said again after the purge come in, and copies of before stay out', async () => {
  const store = home.global()
  const words = 'the walnut-inc key is on the shelf'
  store.chat('a', { name: 'A', fullConversationHeadersOnly: headers(['a1', 'a2']) })
  store.message('a', 'a1', { type: 1, text: words, createdAt: at(1) })
  store.message('a', 'a2', { type: 2, text: 'thank you', createdAt: at(2) })
  indexer.pass()
  indexer.mirror.close()
  await new PurgeHere(indexer.folder).purge({ match: 'walnut-inc' })
  const later = new Date(Date.now() + 60_000).toISOString()
  store.chat('b', { name: 'B', fullConversationHeadersOnly: headers(['b1', 'b2', 'b3', 'b4']) })
  store.message('b', 'b1', { type: 1, text: words, createdAt: at(1) })
  store.message('b', 'b2', { type: 1, text: words })
  store.message('b', 'b3', { type: 1, text: words, createdAt: later })
  store.message('b', 'b4', { type: 2, text: 'once more', createdAt: later })
  indexer.restart()
  indexer.pass('full')
  expect(indexer.thread('b').map(([id]) => id)).toEqual(['b3', 'b4'])
})
