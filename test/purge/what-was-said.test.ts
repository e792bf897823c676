import { afterEach, beforeEach, expect, test } from 'vitest'
import { headers } from '../../src/sample/cursor-home.ts'
import { minute, PurgeHome } from '../helpers/purge-home.ts'
import { findBytes } from '../helpers/purge-world.ts'

// A purge of a text looks at what was said, and not at the JSON in which it is kept.
let place: PurgeHome

beforeEach(() => {
  place = new PurgeHome()
})
afterEach(() => place.remove())

// "none" stands in no message: the escape of a line feed and "one" do.
test.each(['text', 'kind', 'none of them'])('no message says "%s": none goes', async (match) => {
  place.chat('a', ['good morning', 'There are two:\none of them is red'])
  place.pass()
  expect(await place.purging.look({ match })).toMatchObject({ messages: 0 })
  expect(await place.purging.look({ match: 'one of them' })).toMatchObject({ messages: 1 })
})

test('after a purge of a word of the format, new messages still come in', async () => {
  place.chat('a', ['good morning'])
  place.pass()
  await place.purging.purge({ match: 'text' })
  place.chat('c', ['a new day'])
  place.pass()
  expect(place.messages('c')).toEqual(['c1'])
})

test('a Greek text is found within a longer word, in which the lower case of its last letter is another', async () => {
  place.chat('a', ['ΚΩΔΙΚΟΣ42', 'ΜΥΣΤΙΚΟΣΑΒ'])
  place.pass()
  expect(findBytes(place.folder, 'ΜΥΣΤΙΚΟΣ')).toEqual(['mirror.db'])
  const report = await place.purging.purge({ match: 'ΜΥΣΤΙΚΟΣ' })
  expect(report).toMatchObject({ messages: 1, check: { found: [] } })
  expect(findBytes(place.folder, 'ΜΥΣΤΙΚΟΣ')).toEqual([])
})

/** A chat of one message, in which a tool was called. */
function toolCall(id: string, params: object, result: unknown): void {
  place.store.chat(id, { name: id, fullConversationHeadersOnly: headers([`${id}1`, `${id}2`]) })
  const call = { name: 'run_it', status: 'completed', toolCallId: id, params: JSON.stringify(params), result }
  place.store.message(id, `${id}1`, { type: 2, text: '', toolFormerData: call, createdAt: minute(1) })
  place.store.message(id, `${id}2`, { type: 2, text: 'all done', createdAt: minute(2) })
}

test('a card number that a tool was given, or gave, as a number is removed', async () => {
  toolCall('a', { pay: { card: 4111222233334444 } }, '{}')
  toolCall('b', {}, JSON.stringify({ cards: [5, 4111222233334444] }))
  place.pass()
  await place.archive()
  const report = await place.purging.purge({ match: '4111222233334444' })
  expect(report).toMatchObject({ messages: 2, archives: { messages: 2 }, check: { found: [] } })
  place.pass()
  expect([place.messages('a'), place.messages('b'), await place.archived()]).toEqual([['a2'], ['b2'], ['a2', 'b2']])
  expect(findBytes(place.folder, '4111222233334444')).toEqual([])
})
