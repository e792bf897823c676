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

test('a chat that only a list names has the name from there once its messages come', async () => {
  list(head('a', 'Plant an orchard'), head('c', 'Not sent', { isDraft: true }))
  await world.sync()
  expect(await find('includeEmpty=true')).toEqual([])
  writeTranscript(world.cursorHome, 'empty-window', 'a.jsonl', lines(line('user', said(query('where to dig')))))
  await world.sync()
  expect(await find('')).toMatchObject([{ id: 'a', title: 'Plant an orchard', project: { name: 'orchard' } }])
})

test('a chat whose messages are not here is found by the beginnings that its own row has of them', async () => {
  const begun = ['Where is the figtree?', 'It stands  behind\nthe barn']
  const row = headers(['m1', 'm2']).map((header, at) => ({ ...header, grouping: { textPreview: begun[at] } }))
  world.home.global().chat('a', { fullConversationHeadersOnly: row })
  world.home.close()
  await world.sync()
  expect(await find('includeEmpty=true&q=figtree')).toMatchObject([
    { id: 'a', title: 'Where is the figtree?', titleSource: 'first-message' },
  ])
  expect((await find('includeEmpty=true&q=barn')).map(({ id }) => id)).toEqual(['a'])
  world.home.global().message('a', 'm1', { type: 1, text: 'Where is the peartree?' })
  world.home.close()
  await world.sync()
  expect(await find('q=figtree')).toEqual([])
  expect(await find('q=peartree')).toMatchObject([{ title: 'Where is the peartree?' }])
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
  expect(all).toEqual(expect.arrayContaining(harms.map((_, at) => `p${at}`)))
  const { issues } = await world.get<Status>('/api/status')
  expect(Object.values(issues).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(1)
  expect(await world.post('/api/sync', { full: true })).toMatchObject({ added: 0, changed: 0, gone: 0 })
})
