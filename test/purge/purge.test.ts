import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findFaults } from '../helpers/guard/dump.ts'
import { Indexer } from '../helpers/in-process.ts'
import { chatsOf, findBytes, PurgeHere } from '../helpers/purge-world.ts'
import { listSetAside, setAside } from '../../src/mirror/salvage/set-aside.ts'
import { CursorHome, headers } from '../helpers/cursor.ts'

const SECRET = 'Xylophon-Quartz-7731'
const at = (minute: number): string => new Date(Date.UTC(2026, 1, 1, 9, minute)).toISOString()

let home: CursorHome
let indexer: Indexer

beforeEach(() => {
  home = new CursorHome()
  const store = home.global()
  store.chat('a', { fullConversationHeadersOnly: headers(['a1', 'a2', 'a3']) })
  store.message('a', 'a1', { type: 1, text: `the password is ${SECRET} of the cellar`, createdAt: at(1) })
  store.message('a', 'a2', { type: 2, text: 'noted, nothing else', createdAt: at(2) })
  store.message('a', 'a3', { type: 1, text: 'thank you kindly', createdAt: at(3) })
  store.chat('b', { name: 'A pleasant garden', fullConversationHeadersOnly: headers(['b1', 'b2']) })
  store.message('b', 'b1', { type: 1, text: 'which flowers grow beneath the walnutbough', createdAt: at(4) })
  store.message('b', 'b2', { type: 2, text: 'ferns and hostas', createdAt: at(5) })
  home.workspace('ws', { folder: 'file:///home/ada/shop' }, ['a'])
  home.workspace('ws2', { folder: 'file:///home/ada/garden' }, ['b'])
  indexer = new Indexer(home.userDir)
  indexer.pass()
  indexer.mirror.close()
})

afterEach(() => {
  indexer.remove()
  home.remove()
})

function pass(depth: 'nudge' | 'full' = 'full'): void {
  indexer.restart()
  indexer.pass(depth)
}

test('messages with the text are removed from all files and stay out after a full pass', async () => {
  expect(findBytes(indexer.folder, SECRET)).toContain('mirror.db')
  const report = await new PurgeHere(indexer.folder).purge({ match: SECRET.toLowerCase() })
  expect(report).toMatchObject({ messages: 1, inCursor: 1, left: null, check: { found: [], unread: [] } })
  for (const word of [SECRET, 'xylophon', 'quartz']) expect(findBytes(indexer.folder, word)).toEqual([])
  pass()
  expect(indexer.thread('a').map(([id]) => id)).toEqual(['a2', 'a3'])
  expect(findFaults(indexer.mirror).filter((fault) => !fault.startsWith('a row counts as read'))).toEqual([])
  indexer.mirror.close()
  for (const word of [SECRET, 'xylophon', 'quartz']) expect(findBytes(indexer.folder, word)).toEqual([])
})

test('a title that was derived from a removed message is derived again', async () => {
  await new PurgeHere(indexer.folder).purge({ match: SECRET })
  indexer.restart()
  expect(indexer.mirror.prepare(`select title, message_count as count from chats where id = 'a'`).get()).toEqual({
    title: 'thank you kindly',
    count: 2,
  })
})

test('a purged chat is removed completely, and later messages in it stay out', async () => {
  const report = await new PurgeHere(indexer.folder).purge(chatsOf('b'))
  expect(report).toMatchObject({ messages: 2, chatCount: 1, unknownChats: [], check: null })
  for (const word of ['walnutbough', 'hostas', 'pleasant']) expect(findBytes(indexer.folder, word)).toEqual([])
  home.global().message('b', 'b3', { type: 1, text: 'more of the walnutbough', createdAt: at(6) })
  home.global().chat('b', { name: 'A pleasant garden', fullConversationHeadersOnly: headers(['b1', 'b2', 'b3']) })
  pass()
  expect(indexer.mirror.prepare('select id from chats').pluck().all()).toEqual(['a'])
  indexer.mirror.close()
  for (const word of ['walnutbough', 'hostas', 'pleasant']) expect(findBytes(indexer.folder, word)).toEqual([])
})

test('earlier messages are removed, and a chat without later activity as a whole', async () => {
  const report = await new PurgeHere(indexer.folder).purge({ beforeMs: Date.parse(at(5)) })
  expect(report).toMatchObject({ messages: 4, chatCount: 2 })
  pass()
  expect(indexer.mirror.prepare('select id from chats').pluck().all()).toEqual(['b'])
  expect(indexer.thread('b').map(([id]) => id)).toEqual(['b2'])
})

test('a text in one project only', async () => {
  const here = new PurgeHere(indexer.folder)
  expect(await here.look({ match: 'hostas', projectUris: ['file:///home/ada/shop'] })).toMatchObject({ messages: 0 })
  expect(await here.look({ match: 'hostas', projectUris: ['file:///home/ada/garden'] })).toMatchObject({ messages: 1 })
})

test('a name with the text is removed, and stays out when Cursor is read again', async () => {
  const report = await new PurgeHere(indexer.folder).purge({ match: 'pleasant' })
  expect(report).toMatchObject({ messages: 0, check: { found: [] } })
  expect(report.facts).toBeGreaterThan(0)
  pass()
  expect(indexer.mirror.prepare(`select title from chats where id = 'b'`).pluck().get()).toBe(
    'which flowers grow beneath the walnutbough',
  )
})

test('the same words under another id stay out, other words come in', async () => {
  await new PurgeHere(indexer.folder).purge({ match: SECRET })
  const store = home.global()
  store.chat('c', { fullConversationHeadersOnly: headers(['c1', 'c2']) })
  store.message('c', 'c1', { type: 1, text: `the password is  ${SECRET} of the cellar `, createdAt: at(7) })
  store.message('c', 'c2', { type: 1, text: 'something else entirely', createdAt: at(8) })
  pass('nudge')
  expect(indexer.thread('c').map(([id]) => id)).toEqual(['c2'])
})

test('a damaged mirror that was set aside is removed', async () => {
  const copy = mkdtempSync(join(tmpdir(), 'cursordex-copy-'))
  cpSync(indexer.path, join(copy, 'mirror.db'))
  setAside(indexer.path, Date.now())
  cpSync(join(copy, 'mirror.db'), indexer.path)
  rmSync(copy, { recursive: true })
  const report = await new PurgeHere(indexer.folder).purge({ match: SECRET })
  expect(report.setAside).toHaveLength(1)
  expect(findBytes(indexer.folder, SECRET)).toEqual([])
})

test('a start without a purge keeps a mirror that was set aside', async () => {
  const copy = mkdtempSync(join(tmpdir(), 'cursordex-copy-'))
  cpSync(indexer.path, join(copy, 'mirror.db'))
  setAside(indexer.path, Date.now())
  cpSync(join(copy, 'mirror.db'), indexer.path)
  rmSync(copy, { recursive: true })
  await new PurgeHere(indexer.folder).purging.resume()
  expect(listSetAside(indexer.path)).toHaveLength(1)
})
