import { afterEach, beforeEach, expect, test } from 'vitest'
import { minute, PurgeHome } from '../helpers/purge-home.ts'
import { chatsOf } from '../helpers/purge-world.ts'

// The archive knows a chat otherwise than the mirror: from another time, or of another mirror.
const BORDER_MS = Date.parse(minute(10))
let place: PurgeHome

beforeEach(() => {
  place = new PurgeHome()
})
afterEach(() => place.remove())

const inFolder = (path: string) => ({ workspaceIdentifier: { id: path, uri: { scheme: 'file', path } } })

/** A chat in which one thing was said before the border, and one behind it; the mirror made anew knows the first alone. */
async function archiveLater(): Promise<void> {
  place.chat('a', ['of before', 'of after'])
  place.store.message('a', 'a2', { type: 2, text: 'of after', createdAt: minute(20) })
  await place.readAndArchive()
  place.wipe()
  place.store.delete('bubbleId:a:a2')
  place.chat('a', ['of before'])
  place.pass()
}

test('a chat that is named goes whole all the same, whatever the archive knows of it', async () => {
  await archiveLater()
  await place.purging.purge(chatsOf('a'))
  expect(await place.archived()).toEqual([])
})

test.each([{}, { beforeMs: BORDER_MS }])(
  '--project with %j reached into a chat that lay in the project when it was archived, and kept out what Cursor writes anew',
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
