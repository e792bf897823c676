import { afterEach, beforeEach, expect, test } from 'vitest'
import { headers } from '../helpers/cursor.ts'
import { minute, PurgeHome } from '../helpers/purge-home.ts'

// Which messages come in after a purge of a text.
const readFile = (path: string, contents: string) => ({
  name: 'read_file',
  status: 'completed',
  toolCallId: contents,
  params: JSON.stringify({ path }),
  result: JSON.stringify({ contents }),
})
let place: PurgeHome

beforeEach(() => {
  place = new PurgeHome()
})
afterEach(() => place.remove())

test('a new message that reads the same file comes in', async () => {
  const { store } = place
  const path = '/home/ada/walnut-inc/index.ts'
  store.chat('a', { name: 'A', fullConversationHeadersOnly: headers(['a1']) })
  store.message('a', 'a1', { type: 2, text: '', toolFormerData: readFile(path, 'one'), createdAt: minute(1) })
  place.pass()
  await place.purging.purge({ match: 'walnut-inc' })
  expect(place.messages('a')).toEqual([])
  store.chat('b', { name: 'B', fullConversationHeadersOnly: headers(['b1', 'b2', 'b3']) })
  store.message('b', 'b1', { type: 1, text: 'read it', createdAt: minute(11) })
  store.message('b', 'b2', { type: 2, text: 'News', toolFormerData: readFile(path, 'two'), createdAt: minute(12) })
  store.message('b', 'b3', { type: 2, text: 'This one of walnut-inc does come in', createdAt: minute(13) })
  place.pass()
  expect(place.messages('b')).toEqual(['b1', 'b2', 'b3'])
})

test('the same words stay out under any id, whenever they were sent, and an answer to them comes in', async () => {
  const { store } = place
  const words = 'the walnut-inc key is on the shelf'
  place.chat('a', [words, 'thank you'])
  place.pass()
  await place.purging.purge({ match: 'walnut-inc' })
  const later = new Date(Date.now() + 60_000).toISOString()
  store.chat('b', { name: 'B', fullConversationHeadersOnly: headers(['b1', 'b2', 'b3', 'b4']) })
  store.message('b', 'b1', { type: 1, text: words, createdAt: minute(1) })
  store.message('b', 'b2', { type: 1, text: words })
  store.message('b', 'b3', { type: 1, text: words, createdAt: later })
  store.message('b', 'b4', { type: 2, text: 'once more', createdAt: later })
  place.pass()
  expect(place.messages('b')).toEqual(['b4'])
})

test('a tombstone with a time limit, as older versions made it, lets later words in', async () => {
  const words = 'the walnut-inc key is on the shelf'
  place.chat('a', [words, 'thank you'])
  place.pass()
  await place.purging.purge({ match: 'walnut-inc' })
  place.ask(({ mirror }) =>
    mirror.prepare(`update tombstones set until = ? where kind = 'text'`).run(Date.parse(minute(5))),
  )
  place.chat('b', ['hello', words])
  place.store.message('b', 'b3', { type: 1, text: words, createdAt: minute(9) })
  place.store.chat('b', { name: 'B', fullConversationHeadersOnly: headers(['b1', 'b2', 'b3']) })
  place.pass()
  expect(place.messages('b')).toEqual(['b1', 'b3'])
})
