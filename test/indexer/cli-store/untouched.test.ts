import { dirname } from 'node:path'
import { utimesSync } from 'node:fs'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import * as cursorFile from '../../../src/indexer/open-safely/cursor-file.ts'
import { assistant, say, user } from '../../helpers/eras/cli-store.ts'
import { CliHome } from './cli-home.ts'

vi.mock('../../../src/indexer/open-safely/cursor-file.ts', async (original) => {
  const actual = await original<typeof cursorFile>()
  return { ...actual, openCursorFile: vi.fn<typeof cursorFile.openCursorFile>(actual.openCursorFile) }
})

let home: CliHome

beforeEach(() => {
  home = new CliHome()
  for (const id of ['a', 'b', 'c']) home.chat(id, [user(`said in ${id}`)])
})
afterEach(() => {
  home.remove()
})

/** The chats whose stores a pass opens. */
async function opened(pass: () => Promise<unknown>): Promise<string[]> {
  const open = vi.mocked(cursorFile.openCursorFile)
  open.mockClear()
  await pass()
  const folders = open.mock.calls.map(([path]) => dirname(path).split('/').at(-1) ?? '')
  return folders.filter((name) => name !== 'globalStorage')
}

test.each(['tail', 'keys'] as const)('a pass, %s, does not open unchanged stores', async (depth) => {
  expect(await opened(() => home.pass())).toEqual(['a', 'b', 'c'])
  expect(await opened(() => home.pass(depth))).toEqual([])
  const store = home.chat('b', [user('said in b'), assistant(say('more'))])
  expect(
    await opened(async () => expect(await home.pass(depth)).toMatchObject({ added: 1, changed: 0, gone: 0 })),
  ).toEqual(['b'])
  store.sidecar({ title: 'B' })
  expect(await opened(() => home.pass(depth))).toEqual(['b'])
  expect(home.indexer.chat('b')?.title).toBe('B')
})

test('a pass after a restart of the program does not open them either', async () => {
  await home.pass()
  home.indexer.restart()
  home.chat('b', [user('said in b'), assistant(say('more'))])
  expect(await opened(() => home.pass('keys'))).toEqual(['b'])
})

test('on demand every value is compared, and nothing is new', async () => {
  await home.pass()
  expect(
    await opened(async () => expect(await home.pass('values')).toMatchObject({ added: 0, changed: 0, gone: 0 })),
  ).toHaveLength(3)
})

test('a store that was touched but not changed is opened once more, and only once', async () => {
  await home.pass()
  utimesSync(home.store('b').path, 1, 2)
  expect(await opened(async () => expect(await home.pass()).toMatchObject({ added: 0, changed: 0, gone: 0 }))).toEqual([
    'b',
  ])
  expect(await opened(() => home.pass('keys'))).toEqual([])
})

test('a store that the mirror does not have is opened, whatever was seen before', async () => {
  await home.pass()
  home.rebuild()
  expect(await opened(async () => expect(await home.pass()).toMatchObject({ added: 3 }))).toEqual(['a', 'b', 'c'])
})

test('after an interrupted pass, the next one continues with what was not written', async () => {
  for (const id of ['d', 'e']) home.chat(id, [user(`said in ${id} ${'filling '.repeat(700_000)}`)])
  await home.indexer.stoppedPass(() => home.chatIds.length === 4)
  expect(await opened(() => home.pass())).toEqual(['e'])
  expect(home.chatIds).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(await opened(() => home.pass())).toEqual([])
})

test('a pass over many stores does not treat what it has just written as gone', async () => {
  const store = home.store('a#b')
  home.say(store, { entries: [store.blob(user('odd')), 'ab'.repeat(32)] })
  for (const id of ['d', 'e', 'f']) home.chat(id, [user(`said in ${id} ${'filling '.repeat(700_000)}`)])
  expect(await home.pass()).toMatchObject({ added: 7, changed: 0, gone: 0 })
  expect(await home.pass('values')).toMatchObject({ added: 0, changed: 0, gone: 0 })
  expect(home.indexer.chats.filter(({ deletedInCursor }) => !deletedInCursor)).toHaveLength(7)
  expect(home.issues).toEqual(['a#b missing-blob'])
  expect(await opened(() => home.pass('keys'))).toEqual([])
})

test('an unreadable store is not opened again and again', async () => {
  home.store('x').facts({ latestRootBlobId: 'nowhere' })
  await home.pass()
  expect(home.issues).toEqual(['x missing-blob'])
  home.chat('b', [user('said in b'), assistant(say('more'))])
  expect(await opened(() => home.pass())).toEqual(['b'])
  expect(home.issues).toEqual(['x missing-blob'])
})
