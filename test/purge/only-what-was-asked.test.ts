import { afterEach, beforeEach, expect, test } from 'vitest'
import { join } from 'node:path'
import { openRun, readRun } from '../../src/api/archives/open-run.ts'
import { archivesHere } from '../helpers/archives-here.ts'
import { Indexer } from '../helpers/in-process.ts'
import { chatsOf, PurgeHere } from '../helpers/purge-world.ts'
import { CursorHome, headers } from '../../src/sample/cursor-home.ts'

// What was limited to a chat, or to a time, leaves the same words of others.
const at = (minute: number): string => new Date(Date.UTC(2026, 1, 1, 9, minute)).toISOString()
let home: CursorHome
let indexer: Indexer

beforeEach(() => {
  home = new CursorHome()
  const store = home.global()
  for (const id of ['a', 'b']) {
    store.chat(id, { name: 'Fix the walnut bug', fullConversationHeadersOnly: headers([`${id}1`, `${id}2`]) })
    store.message(id, `${id}1`, { type: 1, text: 'run the walnut tests', createdAt: at(1) })
    store.message(id, `${id}2`, { type: 2, text: `done in ${id}`, createdAt: at(2) })
  }
  indexer = new Indexer(home.userDir)
  indexer.pass()
  indexer.mirror.close()
})
afterEach(() => {
  indexer.remove()
  home.remove()
})

async function archive(): Promise<unknown> {
  const acts = archivesHere(indexer.folder, indexer.path)
  const { name } = acts.run(null)
  for (;;) {
    const run = acts.get(name)
    if (run !== null && run.state !== 'running') return run
    await new Promise((done) => setTimeout(done, 20))
  }
}

async function archived(): Promise<string[]> {
  const found: string[] = []
  for await (const { chat } of readRun(openRun(join(indexer.folder, 'archives'), null))) {
    if (chat.kind === 'sound') found.push(...chat.places.map(({ id }) => id))
  }
  return found.sort()
}

test('the archives keep what the mirror keeps: the same words in a chat that was not named', async () => {
  await archive()
  expect(await archived()).toEqual(['a1', 'a2', 'b1', 'b2'])
  await new PurgeHere(indexer.folder).purge({ ...chatsOf('a'), match: 'walnut' })
  indexer.restart()
  expect(indexer.thread('b').map(([id]) => id)).toEqual(['b1', 'b2'])
  indexer.mirror.close()
  expect(await archived()).toEqual(['a2', 'b1', 'b2'])
})

test('an archive made after it holds all that the mirror holds', async () => {
  await archive()
  await new PurgeHere(indexer.folder).purge({ ...chatsOf('a'), match: 'walnut' })
  expect(await archive()).toMatchObject({ state: 'verified', messages: 3 })
})

test('the title of a chat that was not named stays when Cursor writes its row again', async () => {
  await new PurgeHere(indexer.folder).purge({ ...chatsOf('a'), match: 'walnut' })
  const more = { lastUpdatedAt: Date.parse(at(30)), fullConversationHeadersOnly: headers(['b1', 'b2']) }
  home.global().chat('b', { name: 'Fix the walnut bug', ...more })
  indexer.restart()
  indexer.pass()
  expect(indexer.mirror.prepare(`select title from chats where id = 'b'`).pluck().get()).toBe('Fix the walnut bug')
})

test('--before with --match leaves the same words of later in the archives', async () => {
  home.global().chat('a', { name: 'x', fullConversationHeadersOnly: headers(['a1', 'a2', 'a3']) })
  home.global().message('a', 'a3', { type: 1, text: 'run the walnut tests', createdAt: at(20) })
  indexer.restart()
  indexer.pass()
  indexer.mirror.close()
  await archive()
  await new PurgeHere(indexer.folder).purge({ match: 'walnut', beforeMs: Date.parse(at(10)) })
  expect(await archived()).toEqual(['a2', 'a3', 'b2'])
})
