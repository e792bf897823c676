import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Chat } from '../../src/api/answers/chats.ts'
import type { Page } from '../../src/api/answers/common.ts'
import type { Status } from '../../src/api/answers/status.ts'
import { headers } from '../helpers/cursor.ts'
import { line, lines, query, said, writeTranscript } from '../helpers/eras/transcripts.ts'
import { World } from '../helpers/world.ts'

let world: World
beforeEach(async () => {
  world = await World.open()
})
afterEach(async () => world.remove())

const head = (composerId: string, name: string | undefined, rest: object = {}) => ({
  type: 'head',
  composerId,
  name,
  createdAt: 1_780_000_000_000,
  workspaceIdentifier: { id: 'w', uri: { scheme: 'file', path: '/w/orchard' } },
  ...rest,
})

function list(...allComposers: readonly object[]): void {
  world.home.global().item('composer.composerHeaders', { allComposers })
  world.home.close()
}

const find = async (params: string): Promise<readonly Chat[]> =>
  (await world.get<Page<Chat>>(`/api/chats?${params}`)).items

test('a chat that only a list names is listed as such, with its project, found by its title and never counted', async () => {
  list(head('a', 'Plant an orchard'), head('b', undefined), head('c', 'Not sent', { isDraft: true }))
  await world.sync()
  expect(await find('')).toEqual([])
  expect(await find('includeEmpty=true')).toMatchObject([
    {
      id: 'a',
      title: 'Plant an orchard',
      isListedOnly: true,
      messageCount: 0,
      deletedInCursor: false,
      project: { name: 'orchard' },
    },
  ])
  expect((await find('includeEmpty=true&q=orchad')).map(({ id }) => id)).toEqual(['a'])
  expect(await find('q=orchard')).toEqual([])
  expect((await world.get<Status>('/api/status')).counts).toMatchObject({ chats: 0, messages: 0, deleted: 0 })
  expect(await world.losses()).toEqual([])
  for (const full of [false, true])
    expect(await world.post('/api/sync', { full })).toMatchObject({ added: 0, changed: 0, gone: 0 })
})

test('a chat that was only listed is a chat like any other when its messages come, from whichever store', async () => {
  list(head('a', 'Plant an orchard'))
  await world.sync()
  writeTranscript(world.cursorHome, 'empty-window', 'a.jsonl', lines(line('user', said(query('where to dig')))))
  await world.sync()
  expect(await find('')).toMatchObject([{ id: 'a', format: 'transcript', isListedOnly: false, messageCount: 1 }])
  const store = world.home.global()
  store.chat('a', { name: 'Plant a hedge', fullConversationHeadersOnly: headers(['m']) })
  store.message('a', 'm', { type: 1, text: 'where to dig' })
  world.home.close()
  await world.sync()
  expect(await find('')).toMatchObject([{ id: 'a', format: 'split', title: 'Plant a hedge', messageCount: 1 }])
})

test('a chat whose messages are not here is found by the beginnings that its own row has of them', async () => {
  const begun = ['Where is the figtree?', 'It stands  behind\nthe barn']
  const row = headers(['m1', 'm2']).map((header, at) => ({ ...header, grouping: { textPreview: begun[at] } }))
  world.home.global().chat('a', { fullConversationHeadersOnly: row })
  world.home.close()
  await world.sync()
  expect(await find('includeEmpty=true&q=figtree')).toMatchObject([
    { id: 'a', title: 'Where is the figtree?', titleSource: 'first-message', isListedOnly: false },
  ])
  expect((await find('includeEmpty=true&q=barn')).map(({ id }) => id)).toEqual(['a'])
  world.home.global().message('a', 'm1', { type: 1, text: 'Where is the peartree?' })
  world.home.close()
  await world.sync()
  expect(await find('q=figtree')).toEqual([])
  expect(await find('q=peartree')).toMatchObject([{ title: 'Where is the peartree?' }])
})

test('while projects are excluded, no title is listed whose chat is not here', async () => {
  const careful = await World.open({ home: world.home, config: { exclude: { projects: ['orchard'] } } })
  list(head('a', 'Plant an orchard'), { ...head('b', 'Of no project'), workspaceIdentifier: undefined })
  await careful.sync()
  expect((await careful.get<Page<Chat>>('/api/chats?includeEmpty=true')).items).toEqual([])
  await careful.remove()
})

const odd: readonly unknown[] = [null, 7, -1, 1e300, true, '', ' ', '\n', '\0', '\ud800', '{', 'x'.repeat(9000)]
const harms: readonly unknown[] = [...odd, [], [null], [[]], {}, { a: {} }, { text: 'x' }, ['x'], [{ name: 'x' }]]

test('a harmed head or preview costs at most one issue, and everything else is listed', async () => {
  const store = world.home.global()
  const heads = harms.map((harm, at) => head(`h${at}`, harm as string, { isDraft: at % 2 === 0 ? harm : false }))
  store.item('composer.composerHeaders', {
    allComposers: [head('first', 'Plant'), ...heads, harms, head('last', 'Prune')],
  })
  for (const [at, harm] of harms.entries()) {
    const grouping = at % 2 === 0 ? { textPreview: harm } : harm
    const listed = headers(['m', 'n']).map((header, of) => (of === 0 ? { ...header, grouping } : header))
    store.chat(`p${at}`, { name: `Preview ${at}`, fullConversationHeadersOnly: listed })
  }
  await world.sync()
  const all = (await find('includeEmpty=true&limit=200')).map(({ id }) => id)
  expect(all).toEqual(expect.arrayContaining(['first', 'last', ...harms.map((_, at) => `p${at}`)]))
  const { issues } = await world.get<Status>('/api/status')
  expect(Object.values(issues).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(1)
  expect(await world.post('/api/sync', { full: true })).toMatchObject({ added: 0, changed: 0, gone: 0 })
})
