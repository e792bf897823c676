import { afterEach, beforeEach, expect, test } from 'vitest'
import { CursorHome, headers, type Store } from '../../helpers/cursor.ts'
import { textStep, writeTurn } from '../../helpers/eras/cli-store.ts'
import { Indexer } from '../../helpers/in-process.ts'
import { PurgeHere } from '../../helpers/purge-world.ts'
import { asBase64, keepBlob, stateOf, stub, toolResult } from '../../helpers/blob-store.ts'

let home: CursorHome
let store: Store
let indexer: Indexer

beforeEach(() => {
  home = new CursorHome()
  store = home.global()
  indexer = new Indexer(home.userDir)
})

afterEach(() => {
  indexer.remove()
  home.remove()
})

const user = (content: string): object => ({ role: 'user', content })
const answer = (content: string): object => ({ role: 'assistant', content })
const onlyLinks = user('<external_links>\nhttps://example.com\n</external_links>')

function chat(state: Buffer, ids: readonly string[] = ['gone-1']): void {
  store.delete('composerData:chat')
  const conversationState = asBase64(state)
  store.chat('chat', { name: 'A chat', fullConversationHeadersOnly: headers(ids), conversationState })
}

/** The value of this hash from now on: the older decoder gets another value, with the result that it would have. */
function putBlob(id: string, message: unknown): void {
  store.delete(`agentKv:blob:${id}`)
  store.put(`agentKv:blob:${id}`, Buffer.isBuffer(message) ? message : JSON.stringify(message))
}

/** Makes the mirror look as if an older decoder had written it. */
const makeOld = (): void => {
  indexer.mirror.exec(`update sources set decoder = 1 where kind = 'agent-blobs'`)
}

const heldTexts = (): string[] =>
  indexer.mirror
    .prepare<[], { text: string; isLive: number }>(
      `select parts ->> '$[0].text' as text, is_live as isLive from messages join bodies on num = body
       order by position is null, position, key`,
    )
    .all()
    .map(({ text, isLive }) => (isLive === 1 ? text : `gone: ${text}`))
const issues = (): unknown[] => indexer.mirror.prepare('select key from row_issues').pluck().all()

test('a prompt that only the older decoder produced is removed without a loss, every time it occurs', () => {
  const links = keepBlob(store, onlyLinks)
  const ids = [links, keepBlob(store, user('why')), keepBlob(store, answer('because')), links]
  putBlob(links, user('see the links'))
  chat(stateOf(ids))
  indexer.pass()
  expect(heldTexts()).toEqual(['see the links', 'why', 'because', 'see the links'])
  putBlob(links, onlyLinks)
  makeOld()
  indexer.pass()
  expect(heldTexts()).toEqual(['why', 'because'])
  expect(indexer.losses()).toEqual([])
  expect(indexer.pass('full')).toMatchObject({ added: 0, changed: 0, gone: 0 })
})

test('a thread that only the older decoder produced is removed without a loss, and its chat stays', () => {
  const links = keepBlob(store, onlyLinks)
  putBlob(links, user('see the links'))
  chat(stateOf([links]))
  indexer.pass()
  putBlob(links, onlyLinks)
  makeOld()
  indexer.pass()
  expect(heldTexts()).toEqual([])
  expect(indexer.losses()).toEqual([])
  expect(indexer.mirror.prepare('select id, is_live, message_count from chats').all()).toEqual([
    { id: 'chat', is_live: 1, message_count: 0 },
  ])
})

test('messages that the older decoder read from turns are replaced by those that a newer one reads from the archive', () => {
  const blobs = [user('why'), answer('because'), answer('because')].map((message) => keepBlob(store, message))
  const archive = keepBlob(store, stateOf(blobs))
  const steps = [textStep('because'), textStep('because')]
  const turn = writeTurn({ blob: (bytes) => keepBlob(store, bytes) }, { prompt: 'why', steps })
  chat(Buffer.concat([stateOf([turn], 8), stateOf([archive], 13)]))
  store.delete(`agentKv:blob:${archive}`)
  indexer.pass()
  const heldBefore = heldTexts()
  expect(heldBefore).toEqual(['why', 'because', 'because'])
  putBlob(archive, stateOf(blobs))
  makeOld()
  indexer.pass()
  expect(heldTexts()).toEqual(heldBefore)
  expect(indexer.losses()).toEqual([])
})

test.each([
  ['that the state no longer names', (ids: readonly string[]) => chat(stateOf(ids.slice(1)))],
  ['whose blob is gone', ([first]: readonly string[]) => store.delete(`agentKv:blob:${first}`)],
])('a message %s is kept, and is a loss', (_, remove) => {
  const ids = [keepBlob(store, user('why')), keepBlob(store, answer('because'))]
  chat(stateOf(ids))
  indexer.pass()
  remove(ids)
  makeOld()
  indexer.pass()
  expect(heldTexts().sort()).toEqual(['because', 'gone: why'])
  expect(indexer.losses()).toHaveLength(1)
})

test('what only the older decoder could not read is no issue any more', () => {
  const turn = keepBlob(store, Buffer.from('no message'))
  const blobs = keepBlob(store, user('why'))
  chat(stateOf([turn, blobs]))
  indexer.pass()
  expect(issues()).toEqual([`agentKv:blob:${turn}`])
  chat(stateOf([blobs]))
  makeOld()
  indexer.pass()
  expect(issues()).toEqual([])
})

test('a purged phrase does not come back through an archive that a newer decoder reads', async () => {
  const first = [user('the word is mellon'), answer('noted')].map((message) => keepBlob(store, message))
  const before = [user('is mellon safe'), answer('noted')].map((message) => keepBlob(store, message))
  const archive = keepBlob(store, stateOf(before))
  store.delete(`agentKv:blob:${archive}`)
  chat(Buffer.concat([stateOf(first), stateOf([archive], 13)]))
  indexer.pass()
  indexer.mirror.close()
  await new PurgeHere(indexer.folder).purge({ match: 'mellon' })
  indexer.restart()
  expect(heldTexts()).toEqual(['noted'])
  putBlob(archive, stateOf(before))
  makeOld()
  indexer.pass()
  expect(heldTexts()).toEqual(['noted', 'noted'])
  indexer.pass('full')
  expect(heldTexts()).toEqual(['noted', 'noted'])
})

test('a newer decoder looks again for outputs in the blobs that the older one read', () => {
  const blob = keepBlob(store, toolResult('call-1', 'what it gave'))
  putBlob(blob, answer('no output'))
  chat(stateOf([blob]), ['m1'])
  store.message('chat', 'm1', stub('call-1'))
  const output = (): unknown => indexer.mirror.prepare(`select parts ->> '$[0].output' from bodies`).pluck().get()
  indexer.pass()
  expect(output()).not.toBe('what it gave')
  putBlob(blob, toolResult('call-1', 'what it gave'))
  makeOld()
  indexer.pass()
  expect(output()).toBe('what it gave')
})
