import { afterEach, beforeEach, expect, test } from 'vitest'
import { Indexer } from '../helpers/in-process.ts'
import { PurgeHere } from '../helpers/purge-world.ts'
import { CursorHome, headers } from '../../src/sample/cursor-home.ts'

// A purge of a text looks at what was said, and not at the JSON in which it is kept.
const at = (minute: number): string => new Date(Date.UTC(2026, 1, 1, 9, minute)).toISOString()
let home: CursorHome
let indexer: Indexer

beforeEach(() => {
  home = new CursorHome()
  const store = home.global()
  store.chat('a', { name: 'A', fullConversationHeadersOnly: headers(['a1', 'a2']) })
  store.message('a', 'a1', { type: 1, text: 'good morning', createdAt: at(1) })
  store.message('a', 'a2', { type: 2, text: 'There are two:\none of them is red', createdAt: at(2) })
  indexer = new Indexer(home.userDir)
  indexer.pass()
  indexer.mirror.close()
})
afterEach(() => {
  indexer.remove()
  home.remove()
})

test.each(['text', 'kind', 'none of them'])('no message says "%s": none goes', async (match) => {
  expect(await new PurgeHere(indexer.folder).look({ match })).toMatchObject({ messages: 0 })
})

test('after a purge of a word of the format, new messages still come in', async () => {
  await new PurgeHere(indexer.folder).purge({ match: 'text' })
  const store = home.global()
  store.chat('c', { name: 'C', fullConversationHeadersOnly: headers(['c1']) })
  store.message('c', 'c1', { type: 1, text: 'a new day', createdAt: at(7) })
  indexer.restart()
  indexer.pass()
  expect(indexer.thread('c').map(([id]) => id)).toEqual(['c1'])
})
