import { afterEach, beforeEach, expect, test } from 'vitest'
import { minute, PurgeHome } from '../helpers/purge-home.ts'
import { chatsOf } from '../helpers/purge-world.ts'

// Chats that only the archive has are purged by the same rules as in the mirror.
const BORDER_MS = Date.parse(minute(10))
let place: PurgeHome

beforeEach(() => {
  place = new PurgeHome()
})
afterEach(() => place.remove())

test('--before keeps later messages, even if an older run has only the earlier messages of the chat', async () => {
  place.chat('a', ['of before'])
  await place.readAndArchive()
  place.chat('a', ['of before', 'of after'])
  place.store.message('a', 'a2', { type: 2, text: 'of after', createdAt: minute(20) })
  await place.readAndArchive()
  place.wipe()
  await place.purging.purge({ beforeMs: BORDER_MS })
  expect(await place.archived()).toEqual(['a2'])
})

test('--before keeps a chat without messages that was created later', async () => {
  const atMs = Date.parse(minute(50))
  place.store.chat('e', { name: 'Begun after', createdAt: atMs, lastUpdatedAt: atMs })
  await place.readAndArchive()
  place.wipe()
  await place.purging.purge({ beforeMs: BORDER_MS })
  expect(await place.archived()).toEqual(['e'])
})

test('--before removes messages with a time in the chat’s list of messages only', async () => {
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

test('--chat removes subagents at any depth, also those that only the parent names', async () => {
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
  '--chat with %j does not report a chat as unknown if only the archive has it',
  async (more) => {
    place.chat('a', ['of before'])
    await place.readAndArchive()
    place.wipe()
    expect(await place.purging.look({ ...chatsOf('a', 'b'), ...more })).toMatchObject({ unknownChats: ['b'] })
    expect(await place.purging.purge({ ...chatsOf('a', 'b'), ...more })).toMatchObject({ unknownChats: ['b'] })
  },
)

// The archive has another state of a chat than the mirror.
const inFolder = (path: string) => ({ workspaceIdentifier: { id: path, uri: { scheme: 'file', path } } })

/** A chat with one message before the border and one after it. The rebuilt mirror has only the first. */
async function archiveLater(): Promise<void> {
  place.chat('a', ['of before', 'of after'])
  place.store.message('a', 'a2', { type: 2, text: 'of after', createdAt: minute(20) })
  await place.readAndArchive()
  place.wipe()
  place.store.delete('bubbleId:a:a2')
  place.chat('a', ['of before'])
  place.pass()
}

test('a chat that is named is removed as a whole, whatever the archive has of it', async () => {
  await archiveLater()
  await place.purging.purge(chatsOf('a'))
  expect(await place.archived()).toEqual([])
})

test.each([{}, { beforeMs: BORDER_MS }])(
  '--project with %j leaves a chat that was in the project only when it was archived',
  async (more) => {
    place.chat('a', ['said in a'], inFolder('/home/ada/shop'))
    await place.readAndArchive()
    place.chat('a', ['said in a'], inFolder('/home/ada/garden'))
    place.wipe()
    place.pass()
    const scope = { projectUris: ['file:///home/ada/shop'], ...more }
    expect(await place.purging.look(scope)).toMatchObject({ archives: { objects: 0, messages: 0, runs: [] } })
    await place.purging.purge(scope)
    expect(await place.archived()).toEqual(['a1'])
    place.store.message('a', 'a1', { type: 1, text: 'said in a, and more', createdAt: minute(1) })
    place.pass()
    expect(place.ask((indexer) => indexer.thread('a'))).toMatchObject([['a1', 0, 'said in a, and more']])
    await place.purging.purge({ ...scope, projectUris: ['file:///home/ada/garden'] })
    expect(await place.archived()).toEqual([])
  },
)
