import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { casesBeside } from '../../helpers/cases.ts'
import { cliFolder, CliStore, encodeState } from '../../helpers/cursor.ts'
import {
  assistant,
  call,
  cliCanary,
  cliRoot,
  preface,
  result,
  say,
  system,
  user,
} from '../../helpers/eras/cli-store.ts'
import { bytesBelow } from '../../helpers/oracle/canaries.ts'
import { CliHome } from './cli-home.ts'

const cases = casesBeside(import.meta.url)

let home: CliHome

beforeEach(() => {
  home = new CliHome()
})
afterEach(() => {
  home.remove()
})

test('blobs that the newest state does not reach are not shown', async () => {
  const store = home.store('a')
  const [one = '', two = '', left = ''] = ['one', 'two', 'left'].map((text) => store.blob(user(text)))
  store.blob(encodeState({ entries: [one, left] }))
  home.say(store, { entries: [one, two] })
  await home.pass()
  expect(home.texts('a')).toEqual(['one', 'two'])
})

test('a blob that is named twice is two messages', async () => {
  const store = home.store('a')
  const [again, other] = [store.blob(user('again')), store.blob(assistant(say('other')))]
  home.say(store, { entries: [again, other, again] })
  await home.pass()
  expect(home.texts('a')).toEqual(['again', 'other', 'again'])
  expect(new Set(home.held('a').map(({ id }) => id)).size).toBe(3)
  expect(home.issues).toEqual([])
})

test('messages keep their ids in a longer thread and in a rebuilt mirror', async () => {
  const store = home.chat('a', [user('one'), assistant(say('two'))])
  await home.pass()
  const before = home.held('a').map(({ id }) => id)
  const entries = [user('one'), assistant(say('two')), user('one')].map((message) => store.blob(message))
  home.say(store, { entries })
  expect(await home.pass()).toMatchObject({ added: 1, changed: 0, gone: 0 })
  const after = home.held('a').map(({ id }) => id)
  expect(after.slice(0, 2)).toEqual(before)
  home.rebuild()
  await home.pass()
  expect(home.held('a').map(({ id }) => id)).toEqual(after)
})

test('a message that was taken back stays, but not in the thread', async () => {
  const store = home.chat('a', [user('one'), assistant(say('two'))])
  await home.pass()
  home.say(store, { entries: [store.blob(user('one')), store.blob(assistant(say('other')))] })
  expect(await home.pass()).toMatchObject({ added: 1, gone: 1 })
  expect(home.held('a').map(({ position, isLive }) => [position, isLive])).toEqual([
    [0, true],
    [1, true],
    [null, false],
  ])
})

test('the result of a tool joins its call and is not a message', async () => {
  home.chat('a', [
    user('one'),
    assistant(call('c1', 'Read', { path: 'a.ts' }), call('c2', 'Shell', { command: 'ls' })),
    result('c2', 'Shell', 'exit 1', { isError: true }),
    result('c1', 'Read', '{"lines":3}'),
    assistant(call('c3', 'Grep', { pattern: 'x' })),
  ])
  await home.pass()
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
  test('that was moved to another folder is still the same chat', async () => {
    home.chat('a', [user('one')])
    await home.pass()
    home.close()
    const to = cliFolder(home.path, '/elsewhere', 'a')
    mkdirSync(dirname(to), { recursive: true })
    renameSync(cliFolder(home.path, cliRoot, 'a'), to)
    expect(await home.pass()).toMatchObject({ added: 0, gone: 0 })
    expect(home.indexer.chats).toMatchObject([{ id: 'a', deletedInCursor: false }])
  })

  test('gives the chat if another folder has a shorter copy; after that, the copy gives it', async () => {
    home.chat('a', [user('one'), assistant(say('two'))])
    const copy = new CliStore(cliFolder(home.path, '/elsewhere', 'a'))
    home.say(copy, { entries: [copy.blob(user('one'))] })
    copy.close()
    await home.pass()
    expect([home.chatIds, home.texts('a')]).toEqual([['a'], ['one', 'two']])
    home.close()
    rmSync(cliFolder(home.path, cliRoot, 'a'), { recursive: true })
    await home.pass()
    expect(home.held('a').map(({ isLive }) => isLive)).toEqual([true, false])
    expect(home.indexer.chats).toMatchObject([{ id: 'a', deletedInCursor: false }])
  })

  test.each([cliRoot, '/elsewhere'])('that grows gives the chat if there is another copy, in %s', async (grown) => {
    for (const cwd of [cliRoot, '/elsewhere']) {
      const store = home.store('a', { cwd })
      home.say(store, { entries: [store.blob(user('one'))] })
    }
    await home.pass()
    const store = home.store('a', { cwd: grown })
    home.say(store, { entries: [user('one'), user('two')].map((message) => store.blob(message)) })
    expect(await home.pass()).toMatchObject({ added: 1, gone: 0 })
    expect([home.chatIds, home.texts('a'), home.issues]).toEqual([['a'], ['one', 'two'], []])
  })

  test('without any message is not a chat, unless it may become one', async () => {
    home.chat('quiet', []).sidecar({ hasConversation: false })
    home.chat('opened', [])
    await home.pass()
    expect([home.chatIds, home.issues]).toEqual([['opened'], []])
  })

  test('behind a link is skipped, and so is a file in place of a folder', async () => {
    home.chat('a', [user('one')])
    const chats = join(home.path, 'chats')
    const outside = join(home.root, 'outside', 'b')
    new CliStore(outside).close()
    symlinkSync(dirname(outside), join(chats, 'link'))
    writeFileSync(join(chats, 'a file'), '')
    mkdirSync(join(chats, 'empty', 'nothing'), { recursive: true })
    expect((await home.pass()).ends).toMatchObject([{ state: 'ok' }])
    expect(home.chatIds).toEqual(['a'])
  })
})

describe('the facts of a chat', () => {
  interface Told {
    readonly facts?: object
    readonly sidecar?: unknown
    readonly startedAtMs?: number
  }

  async function chatOf({ facts = {}, sidecar, startedAtMs }: Told): Promise<object> {
    const store = home.store('a')
    const plan = { entries: [store.blob(user('What is slag?'))], tokens: { used: 900, limit: 200_000 } }
    home.say(store, startedAtMs === undefined ? plan : { ...plan, startedAtMs }, facts)
    if (sidecar !== undefined) store.sidecar(sidecar)
    await home.pass()
    return home.indexer.chat('a') ?? {}
  }
  const isoOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())

  test.each(cases<[string, Told, string, string]>('titles'))(
    'the title is the one %s',
    async (_, given, title, titleSource) => {
      expect(await chatOf(given)).toMatchObject({ title, titleSource })
    },
  )

  test.each(cases<[string, Told, number | null]>('times of creation'))(
    'the time of creation comes from %s',
    async (_, given, atMs) => {
      expect(await chatOf(given)).toMatchObject({ createdAt: isoOf(atMs) })
    },
  )

  test('the time of the last change comes only from the file beside the store', async () => {
    const updatedAtMs = Date.UTC(2026, 5, 2)
    const chat = await chatOf({ facts: { updatedAtMs: 7 }, sidecar: { updatedAtMs } })
    expect(chat).toMatchObject({ lastActivityAt: isoOf(updatedAtMs) })
  })

  test.each(cases<[unknown, string | null]>('models'))('the model %j is %j', async (lastUsedModel, model) => {
    expect(await chatOf({ facts: { lastUsedModel } })).toMatchObject({ model })
  })

  test('mode, tokens and the subagent flag are read', async () => {
    const contextTokens = { used: 900, limit: 200_000, items: [] }
    const chat = await chatOf({ facts: { mode: 'plan' }, sidecar: { isSubagent: true } })
    expect(chat).toMatchObject({ mode: 'plan', contextTokens, isSubagent: true, format: 'cli' })
  })
})

test('a prompt that contains only what the agent added is not a message', async () => {
  home.chat('a', [
    { role: 'user', content: '<user_info>\nOS\n</user_info>\n<rules>\nBe kind\n</rules>' },
    { role: 'user', content: [say('<user_query>\n \n</user_query>')] },
    user('one'),
  ])
  await home.pass()
  expect([home.indexer.thread('a').map(([, ...rest]) => rest), home.issues]).toEqual([[[0, 'one']], []])
})

test('no secret reaches the mirror, also if the store is damaged, encrypted, or in an unknown format', async () => {
  const store = home.store('a')
  const left = store.blob(encodeState({ entries: [store.blob(user(cliCanary))] }))
  const entries = [
    system,
    preface,
    { role: 'developer', content: cliCanary },
    assistant({ type: 'redacted-reasoning', data: cliCanary, text: cliCanary }, say('told')),
    user('told too'),
  ].map((message) => store.blob(message))
  home.say(store, { entries: [...entries, 'ab'.repeat(32)] }, { blobEncryptionKey: cliCanary })
  for (const key of ['blobEncryptionKey', 'token']) store.fact(key, cliCanary)
  home.store('b').facts({ latestRootBlobId: left, blobEncryptionKey: cliCanary })
  home.store('c').fact('blobEncryptionKey', cliCanary)
  home.chat('d', [{ role: 'system', content: [{ type: 'tool-result', toolCallId: 'c', result: cliCanary }] }])
  home.close()
  await home.pass()
  await home.pass('values')
  home.indexer.mirror.pragma('wal_checkpoint(truncate)')
  const bytes = bytesBelow(home.indexer.folder)
  expect([home.texts('a'), bytes.includes('told too')]).toEqual([['told', 'told too'], true])
  expect(bytes).not.toContain(cliCanary)
})

test('a folder of stores changes its signature with every relevant change', () => {
  const store = home.chat('a', [user('one')])
  const changes: (() => unknown)[] = [
    () => undefined,
    () => store.blob(user('two')),
    () => store.sidecar({ title: 'a' }),
    () => home.chat('b', [user('one')]),
    () => new CliStore(cliFolder(home.path, '/elsewhere', 'c')).close(),
    () => home.close(),
    () => rmSync(join(home.path, 'chats'), { recursive: true }),
  ]
  const seen = changes.map((change) => {
    change()
    return home.indexer.signatureOf('cli-store')
  })
  expect(new Set(seen).size).toBeGreaterThanOrEqual(6)
  expect(seen.at(-1) ?? null).toBeNull()
})
