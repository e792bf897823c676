import { afterEach, beforeEach, expect, test } from 'vitest'
import { minute, PurgeHome } from '../helpers/purge-home.ts'
import { chatsOf } from '../helpers/purge-world.ts'

// Chats that only the archive holds are purged by the rules by which the mirror purges.
const BORDER_MS = Date.parse(minute(10))
let place: PurgeHome

beforeEach(() => {
  place = new PurgeHome()
})
afterEach(() => place.remove())

test('--before leaves what was said after it, though an older run holds the chat with old messages only', async () => {
  place.chat('a', ['of before'])
  await place.readAndArchive()
  place.chat('a', ['of before', 'of after'])
  place.store.message('a', 'a2', { type: 2, text: 'of after', createdAt: minute(20) })
  await place.readAndArchive()
  place.wipe()
  await place.purging.purge({ beforeMs: BORDER_MS })
  expect(await place.archived()).toEqual(['a2'])
})

test('--before leaves a chat without messages that was made after it', async () => {
  const atMs = Date.parse(minute(50))
  place.store.chat('e', { name: 'Begun after', createdAt: atMs, lastUpdatedAt: atMs })
  await place.readAndArchive()
  place.wipe()
  await place.purging.purge({ beforeMs: BORDER_MS })
  expect(await place.archived()).toEqual(['e'])
})

test('--before takes messages whose time the order of the chat tells, as it does in the mirror', async () => {
  const list = ['h1', 'h2'].map((bubbleId, index) => ({ bubbleId, type: index + 1, createdAt: minute(index + 1) }))
  place.store.chat('h', { name: 'H', createdAt: Date.parse(minute(1)), fullConversationHeadersOnly: list })
  place.store.message('h', 'h1', { type: 1, text: 'old words' })
  place.store.message('h', 'h2', { type: 2, text: 'old words, too' })
  await place.readAndArchive()
  expect(await place.archived()).toEqual(['h1', 'h2'])
  place.wipe()
  await place.purging.purge({ beforeMs: BORDER_MS })
  expect(await place.archived()).toEqual([])
})

test('--chat takes the subagents of subagents, and those that only the parent names', async () => {
  place.chat('p', ['said in p'], { subagentComposerIds: ['c', 'named'] })
  place.chat('c', ['said in c'], { subagentInfo: { parentComposerId: 'p' } })
  place.chat('g', ['said in g'], { subagentInfo: { parentComposerId: 'c' } })
  place.chat('named', ['said in named'])
  place.chat('other', ['said in other'])
  await place.readAndArchive()
  place.wipe()
  await place.purging.purge(chatsOf('p'))
  expect(await place.archived()).toEqual(['other1'])
})

test.each([{ beforeMs: BORDER_MS }, { match: 'of before' }, { match: 'nowhere said' }])(
  '--chat with %j does not call a chat unknown that only the archive holds',
  async (more) => {
    place.chat('a', ['of before'])
    await place.readAndArchive()
    place.wipe()
    expect(await place.purging.look({ ...chatsOf('a', 'b'), ...more })).toMatchObject({ unknownChats: ['b'] })
    expect(await place.purging.purge({ ...chatsOf('a', 'b'), ...more })).toMatchObject({ unknownChats: ['b'] })
  },
)
