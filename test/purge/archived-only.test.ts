import { afterEach, beforeEach, expect, test } from 'vitest'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { openRun, readRun } from '../../src/api/archives/open-run.ts'
import { openWriter } from '../../src/mirror/open.ts'
import { archivesHere } from '../helpers/archives-here.ts'
import { Indexer } from '../helpers/in-process.ts'
import { chatsOf, PurgeHere } from '../helpers/purge-world.ts'
import { CursorHome, headers } from '../../src/sample/cursor-home.ts'

// Chats that only the archive holds are purged by the rules by which the mirror purges.
const at = (minute: number): string => new Date(Date.UTC(2026, 1, 1, 9, minute)).toISOString()
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

let runs = 0
async function archive(): Promise<void> {
  indexer.pass()
  indexer.mirror.close()
  const acts = archivesHere(indexer.folder, indexer.path)
  const { name } = acts.run(null)
  while (acts.get(name)?.state === 'running' || acts.get(name) === null)
    await new Promise((done) => setTimeout(done, 20))
  runs += 1
  indexer.restart()
}

function wipe(): void {
  indexer.mirror.close()
  for (const ending of ['', '-wal', '-shm']) rmSync(`${indexer.path}${ending}`, { force: true })
  openWriter(indexer.path).close()
}

async function archived(): Promise<string[]> {
  const found: string[] = []
  for await (const { chat } of readRun(openRun(join(indexer.folder, 'archives'), null))) {
    if (chat.kind !== 'sound') continue
    found.push(...(chat.places.length === 0 ? [chat.chat.id] : chat.places.map(({ id }) => id)))
  }
  return found.sort()
}

test('--before leaves what was said after it, though an older run holds the chat with old messages only', async () => {
  const store = home.global()
  store.chat('a', { name: 'A', fullConversationHeadersOnly: headers(['a1']) })
  store.message('a', 'a1', { type: 1, text: 'of before', createdAt: at(1) })
  await archive()
  store.chat('a', { name: 'A', fullConversationHeadersOnly: headers(['a1', 'a2']) })
  store.message('a', 'a2', { type: 2, text: 'of after', createdAt: at(20) })
  await archive()
  wipe()
  await new PurgeHere(indexer.folder).purge({ beforeMs: Date.parse(at(10)) })
  expect(await archived()).toEqual(['a2'])
})

test('--before leaves a chat without messages that was made after it', async () => {
  home.global().chat('e', { name: 'Begun after', createdAt: Date.parse(at(50)), lastUpdatedAt: Date.parse(at(50)) })
  await archive()
  expect(await archived()).toEqual(['e'])
  wipe()
  await new PurgeHere(indexer.folder).purge({ beforeMs: Date.parse(at(10)) })
  expect(await archived()).toEqual(['e'])
})

test('--before takes messages whose time the order of the chat tells, as it does in the mirror', async () => {
  const list = ['h1', 'h2'].map((bubbleId, index) => ({ bubbleId, type: index + 1, createdAt: at(index + 1) }))
  const store = home.global()
  store.chat('h', { name: 'H', createdAt: Date.parse(at(1)), fullConversationHeadersOnly: list })
  store.message('h', 'h1', { type: 1, text: 'old words' })
  store.message('h', 'h2', { type: 2, text: 'old words, too' })
  await archive()
  wipe()
  await new PurgeHere(indexer.folder).purge({ beforeMs: Date.parse(at(10)) })
  expect(await archived().catch(() => [])).toEqual([])
})

test('--chat takes the subagents of subagents, and those that only the parent names', async () => {
  const store = home.global()
  const chat = (id: string, more: object): void => {
    store.chat(id, { name: id, fullConversationHeadersOnly: headers([`${id}1`]), ...more })
    store.message(id, `${id}1`, { type: 1, text: `said in ${id}`, createdAt: at(1) })
  }
  chat('p', { subagentComposerIds: ['c', 'named'] })
  chat('c', { subagentInfo: { parentComposerId: 'p' } })
  chat('g', { subagentInfo: { parentComposerId: 'c' } })
  chat('named', {})
  await archive()
  wipe()
  await new PurgeHere(indexer.folder).purge(chatsOf('p'))
  expect(await archived()).toEqual([])
})
