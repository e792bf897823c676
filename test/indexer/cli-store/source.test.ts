import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openWriter } from '../../../src/mirror/open.ts'
import { cliFolder, CliStore, encodeState } from '../../helpers/cursor.ts'
import { assistant, call, cliEras, cliRoot, result, say, user } from '../../helpers/eras/cli-store.ts'
import { CliHome } from './cli-home.ts'

let home: CliHome

beforeEach(() => {
  home = new CliHome()
})
afterEach(() => {
  home.remove()
})

test('every form is mirrored, with the root of its project', () => {
  for (const era of cliEras) era.write(home.path)
  home.pass('reconcile')
  const eras = cliEras.flatMap((era) => (era.chatId === null ? [] : [{ ...era, chatId: era.chatId }]))
  expect(home.chatIds).toEqual(eras.map(({ chatId }) => chatId).sort())
  for (const { chatId, messages, rootUri, title } of eras) {
    const held = home.held(chatId)
    const tools = held.map(({ parts }) =>
      parts.flatMap((part) => (part.kind === 'tool' ? [[part.name, part.output]] : [])),
    )
    expect([chatId, home.texts(chatId)]).toEqual([chatId, messages.map(({ text }) => text)])
    expect(held.map(({ role }) => role)).toEqual(messages.map(({ role }) => role))
    expect([chatId, tools]).toEqual([chatId, messages.map((message) => message.tools)])
    expect([chatId, home.project(chatId)[0]]).toEqual([chatId, rootUri])
    const [row] = home.rows<{ title: string; source: string }>(
      'select title, title_source as source from chats where id = ?',
      chatId,
    )
    expect(title === null ? row?.source : row?.title).toBe(title ?? 'first-message')
  }
  expect(home.issues).toEqual([])
  expect(home.rows('select distinct format from chats')).toEqual([{ format: 'cli' }])
})

test('blobs that the newest state does not reach are not shown', () => {
  const store = home.store('a')
  const [one = '', two = '', left = ''] = ['one', 'two', 'left'].map((text) => store.blob(user(text)))
  store.blob(encodeState({ entries: [one, left] }))
  home.say(store, { entries: [one, two] })
  home.pass()
  expect(home.texts('a')).toEqual(['one', 'two'])
})

test('a blob that is named twice is two messages', () => {
  const store = home.store('a')
  const [again, other] = [store.blob(user('again')), store.blob(assistant(say('other')))]
  home.say(store, { entries: [again, other, again] })
  home.pass()
  expect(home.texts('a')).toEqual(['again', 'other', 'again'])
  expect(new Set(home.held('a').map(({ id }) => id)).size).toBe(3)
  expect(home.issues).toEqual([])
})

test('messages keep their ids in a longer thread and in a rebuilt mirror', () => {
  const store = home.chat('a', [user('one'), assistant(say('two'))])
  home.pass()
  const before = home.held('a').map(({ id }) => id)
  const entries = [user('one'), assistant(say('two')), user('one')].map((message) => store.blob(message))
  home.say(store, { entries })
  expect(home.pass()).toMatchObject({ added: 1, changed: 0, gone: 0 })
  const after = home.held('a').map(({ id }) => id)
  expect(after.slice(0, 2)).toEqual(before)
  home.mirror.close()
  rmSync(dirname(home.mirrorPath), { recursive: true })
  home.mirror = openWriter(home.mirrorPath)
  home.pass()
  expect(home.held('a').map(({ id }) => id)).toEqual(after)
})

test('a message that was taken back stays, but not in the thread', () => {
  const store = home.chat('a', [user('one'), assistant(say('two'))])
  home.pass()
  home.say(store, { entries: [store.blob(user('one')), store.blob(assistant(say('other')))] })
  expect(home.pass()).toMatchObject({ added: 1, gone: 1 })
  expect(home.held('a').map(({ position, isLive }) => [position, isLive])).toEqual([
    [0, 1],
    [1, 1],
    [null, 0],
  ])
})

test('the result of a tool joins its call and is not a message', () => {
  home.chat('a', [
    user('one'),
    assistant(call('c1', 'Read', { path: 'a.ts' }), call('c2', 'Shell', { command: 'ls' })),
    result('c2', 'Shell', 'exit 1', { isError: true }),
    result('c1', 'Read', '{"lines":3}'),
    assistant(call('c3', 'Grep', { pattern: 'x' })),
  ])
  home.pass()
  expect(
    home
      .held('a')
      .map(({ parts }) => parts)
      .slice(1),
  ).toMatchObject([
    [
      { name: 'Read', status: 'completed', output: { lines: 3 }, paths: ['a.ts'] },
      { name: 'Shell', status: 'error', output: 'exit 1', error: 'exit 1' },
    ],
    [{ name: 'Grep', status: 'running', output: null }],
  ])
})

describe('a store', () => {
  test('that was deleted keeps its chat, marked as deleted', () => {
    home.chat('a', [user('one')])
    home.chat('b', [user('two')])
    home.pass()
    home.close()
    rmSync(cliFolder(home.path, cliRoot, 'a'), { recursive: true })
    expect(home.pass()).toMatchObject({ gone: 1 })
    expect(home.rows('select id, is_live from chats order by id')).toEqual([
      { id: 'a', is_live: 0 },
      { id: 'b', is_live: 1 },
    ])
    expect(home.texts('a')).toEqual(['one'])
  })

  test('that was moved to another folder is still the same chat', () => {
    home.chat('a', [user('one')])
    home.pass()
    home.close()
    const to = cliFolder(home.path, '/elsewhere', 'a')
    mkdirSync(dirname(to), { recursive: true })
    renameSync(cliFolder(home.path, cliRoot, 'a'), to)
    expect(home.pass()).toMatchObject({ added: 0, gone: 0 })
    expect(home.rows('select id, is_live from chats')).toEqual([{ id: 'a', is_live: 1 }])
  })

  test('gives the chat if another folder has a shorter copy; after that, the copy gives it', () => {
    home.chat('a', [user('one'), assistant(say('two'))])
    const copy = new CliStore(cliFolder(home.path, '/elsewhere', 'a'))
    home.say(copy, { entries: [copy.blob(user('one'))] })
    copy.close()
    home.pass()
    expect([home.chatIds, home.texts('a')]).toEqual([['a'], ['one', 'two']])
    home.close()
    rmSync(cliFolder(home.path, cliRoot, 'a'), { recursive: true })
    home.pass()
    expect(home.held('a').map(({ isLive }) => isLive)).toEqual([1, 0])
    expect(home.rows('select id, is_live from chats')).toEqual([{ id: 'a', is_live: 1 }])
  })

  test.each([cliRoot, '/elsewhere'])('that grows gives the chat if there is another copy, in %s', (grown) => {
    for (const cwd of [cliRoot, '/elsewhere']) {
      const store = home.store('a', { cwd })
      home.say(store, { entries: [store.blob(user('one'))] })
    }
    home.pass()
    const store = home.store('a', { cwd: grown })
    home.say(store, { entries: [user('one'), user('two')].map((message) => store.blob(message)) })
    expect(home.pass()).toMatchObject({ added: 1, gone: 0 })
    expect([home.chatIds, home.texts('a'), home.issues]).toEqual([['a'], ['one', 'two'], []])
  })

  test('without any message is not a chat, unless it may become one', () => {
    home.chat('quiet', []).sidecar({ hasConversation: false })
    home.chat('opened', [])
    home.pass()
    expect([home.chatIds, home.issues]).toEqual([['opened'], []])
  })

  test('behind a link is skipped, and so is a file in place of a folder', () => {
    home.chat('a', [user('one')])
    const chats = join(home.path, 'chats')
    const outside = join(home.root, 'outside', 'b')
    new CliStore(outside).close()
    symlinkSync(dirname(outside), join(chats, 'link'))
    writeFileSync(join(chats, 'a file'), '')
    mkdirSync(join(chats, 'empty', 'nothing'), { recursive: true })
    expect(home.pass().ends).toMatchObject([{ state: 'ok' }])
    expect(home.chatIds).toEqual(['a'])
  })
})

describe('a source', () => {
  test('exists for each existing folder, and for nothing else', () => {
    expect(home.sources).toEqual([])
    for (const name of ['chats', 'acp-sessions']) mkdirSync(join(home.path, name))
    const sources = home.sources
    expect(sources.map(({ kind, rank, path }) => ({ kind, rank, path }))).toEqual(
      ['chats', 'acp-sessions'].map((name) => ({ kind: 'cli-store', rank: 1, path: join(home.path, name) })),
    )
    expect(new Set(sources.map(({ id }) => id)).size).toBe(2)
    expect(home.sources.map(({ id }) => id)).toEqual(sources.map(({ id }) => id))
  })

  test('changes its signature with every relevant change', () => {
    const store = home.chat('a', [user('one')])
    const [source] = home.sources
    const seen = [source?.signature()]
    const look = (act: () => void) => {
      act()
      seen.push(source?.signature())
    }
    look(() => store.blob(user('two')))
    look(() => store.sidecar({ title: 'a' }))
    look(() => home.chat('b', [user('one')]))
    look(() => new CliStore(cliFolder(home.path, '/elsewhere', 'c')).close())
    home.close()
    look(() => rmSync(join(home.path, 'chats'), { recursive: true }))
    expect(new Set(seen).size).toBe(6)
    expect(seen.at(-1)).toBeNull()
  })

  test('whose folder is gone is missing, and what was read stays', () => {
    home.chat('a', [user('one')])
    home.pass()
    const { sources } = home
    home.close()
    rmSync(join(home.path, 'chats'), { recursive: true })
    expect(home.pass('reconcile', sources)).toMatchObject({ gone: 0, ends: [{ state: 'missing' }] })
    expect(home.texts('a')).toEqual(['one'])
    expect(existsSync(join(home.path, 'chats'))).toBe(false)
  })
})
