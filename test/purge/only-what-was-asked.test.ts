import { afterEach, beforeEach, expect, test } from 'vitest'
import { minute, PurgeHome } from '../helpers/purge-home.ts'
import { chatsOf } from '../helpers/purge-world.ts'

// A purge that is limited to a chat or a time keeps the same words elsewhere.
const NAME = 'Fix the walnut bug'
let place: PurgeHome

beforeEach(() => {
  place = new PurgeHome()
  for (const id of ['a', 'b']) place.chat(id, ['run the walnut tests', `done in ${id}`], { name: NAME })
  place.pass()
})
afterEach(() => place.remove())

test('the archives keep the same words in a chat that was not named, like the mirror', async () => {
  await place.archive()
  expect(await place.archived()).toEqual(['a1', 'a2', 'b1', 'b2'])
  const report = await place.purging.purge({ ...chatsOf('a'), match: 'walnut' })
  expect(report).toMatchObject({ messages: 1, check: null })
  expect(place.messages('b')).toEqual(['b1', 'b2'])
  expect(await place.archived()).toEqual(['a2', 'b1', 'b2'])
})

test('a later archive has everything that the mirror has', async () => {
  await place.archive()
  await place.purging.purge({ ...chatsOf('a'), match: 'walnut' })
  expect(await place.archive()).toMatchObject({ state: 'verified', messages: 3 })
})

test('a chat that was not named keeps its title when Cursor rewrites its row', async () => {
  await place.purging.purge({ ...chatsOf('a'), match: 'walnut' })
  place.chat('b', ['run the walnut tests', 'done in b'], { name: NAME, lastUpdatedAt: Date.parse(minute(30)) })
  place.pass()
  const title = `select title from chats where id = 'b'`
  expect(place.ask(({ mirror }) => mirror.prepare(title).pluck().get())).toBe(NAME)
})

test('--before with --match keeps the same words in later messages of the archives', async () => {
  place.chat('a', ['run the walnut tests', 'done in a', 'run the walnut tests'])
  place.store.message('a', 'a3', { type: 1, text: 'run the walnut tests', createdAt: minute(20) })
  place.pass()
  await place.archive()
  await place.purging.purge({ match: 'walnut', beforeMs: Date.parse(minute(10)) })
  expect(await place.archived()).toEqual(['a2', 'a3', 'b2'])
})
