import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { headers } from '../helpers/cursor.ts'
import { minute, PurgeHome } from '../helpers/purge-home.ts'

const SECRET = 'Xylophon-Quartz-7731'
const said = `the password is ${SECRET} of the cellar`
let place: PurgeHome

beforeEach(async () => {
  place = await PurgeHome.open()
})
afterEach(() => place.remove())

const titleOf = async (chat: string): Promise<string> =>
  (await place.world.get<{ title: string }>(`/api/chats/${chat}`)).title

describe('a text', () => {
  beforeEach(async () => {
    place.chat('a', [said, 'noted, nothing else', 'thank you kindly'], { name: undefined })
    place.chat('b', ['which flowers grow beneath the walnutbough', 'ferns and hostas'], { name: 'A pleasant garden' })
    place.world.home.workspace('ws1', { folder: 'file:///home/ada/shop' }, ['a'])
    place.world.home.workspace('ws2', { folder: 'file:///home/ada/garden' }, ['b'])
    await place.pass()
  })

  test('is removed from all files, and stays out after a full pass', async () => {
    expect(place.filesWith(SECRET)).not.toEqual([])
    const report = await place.purge({ match: SECRET.toLowerCase() })
    expect(report).toMatchObject({ messages: 1, found: [], unread: [] })
    expect(await titleOf('a')).toBe('thank you kindly')
    expect(await place.world.get('/api/chats/a')).toMatchObject({ messageCount: 2 })
    await place.pass()
    expect(await place.messages('a')).toEqual(['a2', 'a3'])
    for (const word of [SECRET, 'xylophon', 'quartz']) expect(place.filesWith(word)).toEqual([])
  })

  test('of a message whose stored form is damaged is removed too', async () => {
    await place.world.restart(() => {
      const db = new Database(place.world.mirrorPath)
      db.exec(`update bodies set parts = substr(parts, 1, length(parts) - 2) where parts like '%${SECRET}%'`)
      db.close()
    })
    expect(await place.purge({ match: SECRET })).toMatchObject({ messages: 1, found: [] })
    await place.pass()
    expect(await place.messages('a')).toEqual(['a2', 'a3'])
  })

  test('stays out of its chat under any id, whenever it was sent, and other words come in', async () => {
    await place.purge({ match: SECRET })
    const { store } = place
    store.chat('a', { fullConversationHeadersOnly: headers(['c1', 'c2', 'c3', 'c4']) })
    store.message('a', 'c1', { type: 1, text: `the password is  ${SECRET} of the cellar `, createdAt: minute(7) })
    store.message('a', 'c2', { type: 1, text: said })
    const later = new Date(Date.now() + 60_000).toISOString()
    store.message('a', 'c3', { type: 1, text: said, createdAt: later })
    store.message('a', 'c4', { type: 2, text: 'something else entirely', createdAt: later })
    await place.pass()
    expect(await place.messages('a')).toEqual(['c4', 'a2', 'a3'])
    expect(place.filesWith(SECRET)).toEqual([])
  })

  test('in a name is removed, and stays out when Cursor is read again', async () => {
    const report = await place.purge({ match: 'pleasant' })
    expect(report).toMatchObject({ messages: 0, chatCount: 1, found: [] })
    await place.pass()
    expect(await titleOf('b')).toBe('which flowers grow beneath the walnutbough')
  })

  test('is removed in one project, in one chat, or up to a time only', async () => {
    const hostas = { match: 'hostas' }
    expect(await place.look({ ...hostas, projects: ['shop'] })).toMatchObject({ messages: 0 })
    expect(await place.look({ ...hostas, projects: ['garden'] })).toMatchObject({ messages: 1 })
    expect(await place.look({ ...hostas, chats: ['a'] })).toMatchObject({ messages: 0 })
    expect(await place.look({ ...hostas, before: minute(2) })).toMatchObject({ messages: 0 })
    expect(await place.look({ ...hostas, before: minute(3) })).toMatchObject({ messages: 1 })
  })

  test('of a long chat is removed completely', async () => {
    place.chat(
      'long',
      Array.from({ length: 1500 }, (_, at) => (at % 10 === 0 ? `plain ${at}` : `${SECRET} ${at}`)),
    )
    await place.pass()
    expect(await place.purge({ match: SECRET })).toMatchObject({ messages: 1351, found: [] })
    expect(await place.world.get('/api/chats/long')).toMatchObject({ messageCount: 150 })
  })
})

describe('a chat or a time', () => {
  beforeEach(async () => {
    place.chat('a', ['plum', 'pear'])
    place.chat('b', ['which flowers grow beneath the walnutbough', 'ferns and hostas'], { name: 'A pleasant garden' })
    await place.pass()
  })

  test('a purged chat is removed completely, and later messages in it stay out', async () => {
    const report = await place.purge({ chats: ['b'] })
    expect(report).toMatchObject({ messages: 2, chatCount: 1, unknownChats: [], found: null })
    place.chat('b', ['which flowers', 'ferns', 'more of the walnutbough'])
    await place.pass()
    expect([await place.messages('a'), await place.messages('b')]).toEqual([['a1', 'a2'], []])
    for (const word of ['walnutbough', 'hostas', 'pleasant']) expect(place.filesWith(word)).toEqual([])
  })

  test('earlier messages are removed, and a chat without later activity as a whole', async () => {
    place.store.message('b', 'b2', { type: 2, text: 'ferns and hostas', createdAt: minute(9) })
    await place.pass()
    expect(await place.purge({ before: minute(5) })).toMatchObject({ messages: 3, chatCount: 2 })
    await place.pass()
    expect([await place.messages('a'), await place.messages('b')]).toEqual([[], ['b2']])
  })
})

describe('what counts is what was said, and not the JSON that stores it:', () => {
  // "none" stands in no message: the escape of a line feed and "one" do.
  test('words of our format are in no message, and new messages come in after a purge of one', async () => {
    place.chat('a', ['good morning', 'There are two:\none of them is red'])
    await place.pass()
    for (const match of ['text', 'kind', 'none of them']) {
      expect(await place.look({ match })).toMatchObject({ messages: 0 })
    }
    expect(await place.look({ match: 'one of them' })).toMatchObject({ messages: 1 })
    await place.purge({ match: 'text' })
    place.chat('c', ['a new day'])
    await place.pass()
    expect(await place.messages('c')).toEqual(['c1'])
  })

  test('a text of several lines is removed whatever their ends are', async () => {
    const keyLines = ['-----BEGIN KEY-----', 'QUFrwalzend', '-----END KEY-----']
    place.chat('a', ['good morning', `here: ${keyLines.join('\n')} thanks`, `here: ${keyLines.join('\r\n')} thanks`])
    await place.pass()
    expect(await place.look({ match: keyLines.join('\n') })).toMatchObject({ messages: 2 })
    const report = await place.purge({ match: keyLines.join('\r\n') })
    expect(report).toMatchObject({ messages: 2, found: [] })
    expect(place.filesWith('QUFrwalzend')).toEqual([])
  })

  test('a text with quotes and lines is removed as it is, as JSON, and from the files', async () => {
    const match = 'say "walzwerk"\nü'
    place.chat('a', ['good morning', `it said ${JSON.stringify({ key: match })}`, `and ${match} itself`])
    await place.pass()
    expect(await place.purge({ match })).toMatchObject({ messages: 2, found: [] })
    expect(place.filesWith('walzwerk')).toEqual([])
  })

  /** A chat in which a tool was called, and a message after it. */
  function toolCall(id: string, params: object, result: object): void {
    const { store } = place
    store.chat(id, { name: id, fullConversationHeadersOnly: headers([`${id}1`, `${id}2`]) })
    const call = { name: 'run_it', status: 'completed', toolCallId: id, params: JSON.stringify(params) }
    const toolFormerData = { ...call, result: JSON.stringify(result) }
    store.message(id, `${id}1`, { type: 2, text: '', toolFormerData, createdAt: minute(1) })
    store.message(id, `${id}2`, { type: 2, text: 'all done', createdAt: minute(2) })
  }

  test('a number in the input or output of a tool is removed', async () => {
    toolCall('a', { pay: { card: 4_111_222_233_334_444 } }, {})
    toolCall('b', {}, { cards: [5, 4_111_222_233_334_444] })
    await place.archive()
    const report = await place.purge({ match: '4111222233334444' })
    expect(report).toMatchObject({ messages: 2, archived: 2, found: [] })
    await place.pass()
    expect([await place.messages('a'), await place.messages('b')]).toEqual([['a2'], ['b2']])
    expect(await place.archived()).toEqual(['a2', 'b2'])
    expect(place.filesWith('4111222233334444')).toEqual([])
  })

  test('a new message that reads the same file comes in', async () => {
    toolCall('a', { path: '/home/ada/walnut-inc/index.ts' }, { contents: 'one' })
    await place.pass()
    await place.purge({ match: 'walnut-inc' })
    expect(await place.messages('a')).toEqual(['a2'])
    toolCall('b', { path: '/home/ada/walnut-inc/index.ts' }, { contents: 'two' })
    await place.pass()
    expect(await place.messages('b')).toEqual(['b1', 'b2'])
  })

  test('a text that another file contains, in any case, is found at the end', async () => {
    place.chat('a', ['good morning'])
    await place.pass()
    writeFileSync(join(place.folder, 'notes.txt'), 'the Acme Merger PLAN of today')
    const { found } = await place.purge({ match: 'acme merger plan' })
    expect(found).toEqual(['notes.txt'])
  })
})
