import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Page } from '../../../src/api/answers/common.ts'
import type { Chat } from '../../../src/api/answers/chats.ts'
import type { SearchAnswer } from '../../../src/api/answers/search.ts'
import { headers } from '../../helpers/cursor.ts'
import { World } from '../../helpers/world.ts'

let world: World
beforeEach(async () => {
  world = await World.open()
  const store = world.home.global()
  for (const [id, branch] of [
    ['c1', 'main'],
    ['c2', 'fix/login'],
    ['c3', undefined],
  ] as const) {
    store.chat(id, {
      name: id,
      fullConversationHeadersOnly: headers(['m']),
      ...(branch === undefined ? {} : { createdOnBranch: branch }),
    })
    store.message(id, 'm', { type: 1, text: 'walnut' })
  }
  await world.sync()
})
afterEach(() => world.remove())

test.each([
  ['branch=main', ['c1']],
  ['branch=main&branch=fix/login', ['c1', 'c2']],
  ['branch=mai', []],
])('the filter %s finds chats of exactly these branches', async (query, found) => {
  const chats = await world.get<Page<Chat>>(`/api/chats?${query}`)
  expect(chats.items.map(({ id }) => id).toSorted()).toEqual(found)
  const hits = await world.get<SearchAnswer>(`/api/search?q=walnut&${query}`)
  expect(hits.items.map(({ chat }) => chat.id).toSorted()).toEqual(found)
})

test('branch: is a field of the language', async () => {
  const idsOf = async (q: string) =>
    (await world.get<SearchAnswer>(`/api/search?q=${encodeURIComponent(q)}`)).items
      .map(({ chat }) => chat.id)
      .toSorted()
  expect(await idsOf('walnut branch:fix/login')).toEqual(['c2'])
  expect(await idsOf('walnut -branch:main')).toEqual(['c2', 'c3'])
})
