import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { headers } from '../helpers/cursor.ts'
import { minute, PurgeHome } from '../helpers/purge-home.ts'
import { findBytes } from '../helpers/purge-world.ts'

// A purge of a text looks at the texts of messages, not at the JSON that stores them.
let place: PurgeHome

beforeEach(() => {
  place = new PurgeHome()
})
afterEach(() => place.remove())

// "none" stands in no message: the escape of a line feed and "one" do.
test.each(['text', 'kind', 'none of them'])('no message contains "%s", so none is removed', async (match) => {
  place.chat('a', ['good morning', 'There are two:\none of them is red'])
  place.pass()
  expect(await place.purging.look({ match })).toMatchObject({ messages: 0 })
  expect(await place.purging.look({ match: 'one of them' })).toMatchObject({ messages: 1 })
})

test('after a purge of a word of our JSON format, new messages still come in', async () => {
  place.chat('a', ['good morning'])
  place.pass()
  await place.purging.purge({ match: 'text' })
  place.chat('c', ['a new day'])
  place.pass()
  expect(place.messages('c')).toEqual(['c1'])
})

const keyLines = ['-----BEGIN KEY-----', 'QUFrwalzend', '-----END KEY-----']

test.each([
  ['\r\n', '\n'],
  ['\n', '\r\n'],
])('a text of several lines that end with %j is removed where they end with %j', async (given, said) => {
  place.chat('a', ['good morning', `here: ${keyLines.join(said)} thanks`])
  place.pass()
  const report = await place.purging.purge({ match: keyLines.join(given) })
  expect(report).toMatchObject({ messages: 1, check: { found: [] } })
  expect(findBytes(place.folder, 'QUFrwalzend')).toEqual([])
})

test('a text with quotes and lines is removed as it is, as JSON, and from the files', async () => {
  const match = 'say "walzwerk"\nü'
  place.chat('a', ['good morning', `it said ${JSON.stringify({ key: match })}`, `and ${match} itself`])
  place.pass()
  const report = await place.purging.purge({ match })
  expect(report).toMatchObject({ messages: 2, check: { found: [] } })
  expect(findBytes(place.folder, 'walzwerk')).toEqual([])
})

/** A chat of one message, in which a tool was called. */
function toolCall(id: string, params: object, result: unknown): void {
  place.store.chat(id, { name: id, fullConversationHeadersOnly: headers([`${id}1`, `${id}2`]) })
  const call = { name: 'run_it', status: 'completed', toolCallId: id, params: JSON.stringify(params), result }
  place.store.message(id, `${id}1`, { type: 2, text: '', toolFormerData: call, createdAt: minute(1) })
  place.store.message(id, `${id}2`, { type: 2, text: 'all done', createdAt: minute(2) })
}

test('a number in the input or output of a tool is removed', async () => {
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

test.each(['acme merger plan', 'Acme Merger PLAN'])(
  'a text that another file contains as "%s" is found at the end',
  async (written) => {
    place.chat('a', ['good morning'])
    place.pass()
    writeFileSync(join(place.folder, 'notes.txt'), `the ${written} of today`)
    const { check } = await place.purging.purge({ match: 'acme merger plan' })
    expect(check?.found).toMatchObject([{ file: 'notes.txt', times: 1, at: 4 }])
  },
)
