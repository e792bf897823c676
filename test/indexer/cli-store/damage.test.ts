import { randomBytes } from 'node:crypto'
import { readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { bytesField, type CliStore } from '../../helpers/cursor.ts'
import { assistant, call, result, say, user } from '../../helpers/eras/cli-store.ts'
import { CliHome } from './cli-home.ts'

let home: CliHome

/** In every case there is another store, which must be read whatever happens to the first. */
beforeEach(() => {
  home = new CliHome()
  home.chat('z', [user('neighbour')])
})
afterEach(() => {
  const neighbour = home.texts('z')
  home.remove()
  if (neighbour.join() !== 'neighbour') throw new Error(`The neighbour says ${neighbour.join()}`)
})

const NO_BLOB = 'ab'.repeat(32)
const ENCRYPTED = { blobEncryptionKey: 'c2VjcmV0' }
const long = (index: number) => user(`word${index} ${'filling '.repeat(2000)}`)

test('a truncated store is an issue, and what was read of it before stays', async () => {
  const store = home.chat(
    'a',
    Array.from({ length: 20 }, (_, index) => long(index)),
  )
  home.close()
  await home.pass()
  truncateSync(store.path, 8192)
  expect(await home.pass()).toMatchObject({ gone: 0, ends: [{ state: 'ok' }] })
  expect(home.issues).toEqual(['a unreadable-page'])
  expect(home.held('a').map(({ isLive }) => isLive)).toEqual(Array(20).fill(true))
})

test('a damaged page affects only the messages on it', async () => {
  const messages = Array.from({ length: 60 }, (_, index) => user(`word${index} ${'filling '.repeat(20)}`))
  const store = home.chat('a', messages)
  home.close()
  const bytes = readFileSync(store.path)
  const spoiled = Math.floor(bytes.lastIndexOf('word30 filling') / 4096) * 4096
  writeFileSync(store.path, bytes.fill(0xff, spoiled, spoiled + 4096))
  await home.pass()
  expect(home.texts('a').length).toBeGreaterThan(30)
  expect(home.texts('a').length).toBeLessThan(60)
  expect(home.issues).toEqual(['a unreadable-page'])
})

test.each([
  ['words', (path: string) => writeFileSync(path, 'this is no database')],
  ['nothing', (path: string) => truncateSync(path)],
])('a store of %s is an issue, and what was read of it stays until it can be read again', async (_, spoil) => {
  const store = home.chat('a', [user('one')])
  home.close()
  await home.pass()
  const { size } = statSync(store.path)
  spoil(store.path)
  expect(await home.pass()).toMatchObject({ gone: 0 })
  expect([home.texts('a'), home.issues.length]).toEqual([['one'], 1])
  rmSync(store.path)
  home.chat('a', [user('one'), assistant(say('two'))])
  home.close()
  expect(statSync(store.path).size).toBeGreaterThanOrEqual(size)
  expect(await home.pass()).toMatchObject({ added: 1, gone: 0 })
  expect([home.texts('a'), home.issues]).toEqual([['one', 'two'], []])
})

test('a store without a root is an issue if it has blobs', async () => {
  const store = home.store('a')
  store.facts({ latestRootBlobId: '' })
  await home.pass()
  expect(home.issues).toEqual([])
  store.blob(user('one'))
  await home.pass()
  expect(home.issues).toEqual(['a missing-blob'])
})

test('a missing blob is an issue, and its message keeps its place', async () => {
  const store = home.chat('a', [user('one'), assistant(say('two')), user('three')])
  await home.pass()
  const two = store.blob(assistant(say('two')))
  store.drop(two)
  await home.pass()
  expect(home.issues).toEqual([`a missing-blob`])
  expect(home.texts('a')).toEqual(['one', 'two', 'three'])
  expect(home.held('a').map(({ position, isLive }) => [position, isLive])).toEqual([
    [0, true],
    [1, false],
    [2, true],
  ])
  store.blob(assistant(say('two')))
  await home.pass()
  expect(home.issues).toEqual([])
  expect(home.held('a').map(({ isLive }) => isLive)).toEqual([true, true, true])
})

test('a store without any readable blob keeps what was read before', async () => {
  const store = home.chat('a', [user('one')])
  await home.pass()
  store.drop(store.blob(user('one')))
  expect(await home.pass()).toMatchObject({ gone: 0 })
  expect([home.issues, home.texts('a')]).toEqual([['a missing-blob'], ['one']])
})

test.each<[string, unknown, string]>([
  ['an unknown role', { role: 'oracle', content: 'hidden' }, 'unknown-shape'],
  ['a message without a role', { content: 'hidden' }, 'unknown-shape'],
  ['a list with an entry that is not a message', [user('hidden'), 7], 'not-an-object'],
  ['bytes that are no JSON', Buffer.from('{"role":"user","con'), 'bad-json'],
])('%s is an issue', async (_, blob, reason) => {
  const store = home.store('a')
  const odd = store.blob(blob)
  home.say(store, { entries: [store.blob(user('one')), odd, store.blob(user('two'))] })
  await home.pass()
  expect([home.texts('a'), home.issues]).toEqual([['one', 'two'], [`a ${reason}`]])
  expect(home.held('a').map(({ position }) => position)).toEqual([0, 2])
})

test('an unknown kind of part is an issue, and the other parts of its message are read', async () => {
  const store = home.store('a')
  const odd = store.blob(assistant(say('one'), { type: 'hologram', text: 'two' }, say('three')))
  home.say(store, { entries: [odd] })
  await home.pass()
  expect(home.held('a')[0]?.parts).toEqual([
    { kind: 'text', text: 'one' },
    { kind: 'text', text: 'three' },
  ])
  expect(home.issues).toEqual([`a unknown-shape`])
})

test('arguments and results that are nested too deep are an issue', async () => {
  const deep = `${'['.repeat(600)}${']'.repeat(600)}`
  const store = home.chat('a', [assistant(call('c1', 'Read', deep)), result('c1', 'Read', deep)])
  await home.pass()
  expect(store.path).not.toBe('')
  expect(home.issues).toEqual(['a too-deep'])
  expect(home.held('a')[0]?.parts).toMatchObject([{ name: 'Read', input: null, output: null, status: 'completed' }])
})

test('a store is also encrypted if only its messages are; a store with a key and plain blobs is read completely', async () => {
  const store = home.store('a')
  home.say(store, { entries: [store.blob(randomEncrypted())] }, ENCRYPTED)
  home.chat('b', [user('one')], ENCRYPTED)
  await home.pass()
  expect([home.chatIds, home.texts('b'), home.issues]).toEqual([['b', 'z'], ['one'], ['a encrypted']])
})

/** No field length is valid: the first one goes beyond the end. */
const randomEncrypted = (): Buffer => Buffer.concat([Buffer.from([0x0a, 0xff, 0x7f]), randomBytes(100)])

test.each<[string, (store: CliStore) => void, string]>([
  ['a root that is missing', (store) => store.facts({ latestRootBlobId: NO_BLOB }), 'missing-blob'],
  [
    'blobs that are encrypted',
    (store) => store.facts({ latestRootBlobId: store.blob(randomEncrypted()), ...ENCRYPTED }),
    'encrypted',
  ],
  ['facts that are no JSON', (store) => store.fact('0', '7b226e'), 'bad-json'],
  ['facts that are no object', (store) => store.fact('0', Buffer.from('[1]').toString('hex')), 'bad-json'],
  ['a root that is no state', (store) => store.facts({ latestRootBlobId: store.blob('no state') }), 'unknown-shape'],
  [
    'a root without any known field',
    (store) => store.facts({ latestRootBlobId: store.blob(bytesField(99, Buffer.from('new'))) }),
    'unknown-shape',
  ],
])('%s are an issue', async (_, write, reason) => {
  write(home.store('a'))
  await home.pass()
  expect([home.chatIds, home.issues]).toEqual([['z'], [`a ${reason}`]])
})

test.each([
  ['no tables is about to be written', [], 'null-value'],
  ['other tables is in an unknown format', ['messages'], 'unknown-shape'],
])('a store with %s', async (_, tables, reason) => {
  const { path } = home.store('a')
  await home.pass()
  home.close()
  rmSync(path)
  const db = new Database(path)
  db.pragma('user_version = 1')
  for (const name of tables) db.exec(`create table ${name} (a)`)
  db.close()
  await home.pass()
  expect(home.issues).toEqual([`a ${reason}`])
})

test('a torn file beside the store is an issue, and the store is read', async () => {
  home.chat('a', [user('one')]).sidecar('{"title":"to')
  await home.pass()
  expect([home.texts('a'), home.issues]).toEqual([['one'], ['a bad-json']])
})

test('a store in the middle of a write is busy, is tried again, and does not delay the others', async () => {
  const store = home.store('a', { mode: 'delete' })
  home.say(store, { entries: [store.blob(user('one'))] })
  await home.pass()
  const other = home.chat('b', [user('two')])
  store.db.pragma('cache_size = 1')
  store.db.exec('begin immediate')
  for (let index = 0; index < 50; index += 1) store.blob(long(index))
  for (const depth of ['tail', 'keys', 'values'] as const) {
    expect(await home.pass(depth)).toMatchObject({ gone: 0, ends: [{ state: 'busy' }] })
  }
  expect([home.texts('a'), home.texts('b'), home.issues]).toEqual([['one'], ['two'], []])
  home.say(store, { entries: [user('one'), user('three')].map((message) => store.blob(message)) })
  store.db.exec('commit')
  home.say(other, { entries: [user('two'), user('four')].map((message) => other.blob(message)) })
  expect(await home.pass()).toMatchObject({ added: 2, ends: [{ state: 'ok' }] })
  expect([home.texts('a'), home.texts('b')]).toEqual([
    ['one', 'three'],
    ['two', 'four'],
  ])
})
