import { afterAll, beforeAll, expect, test } from 'vitest'
import { giveChat } from '../../../src/mirror/hub/hub.ts'
import { asChatId } from '../../../src/model/ids.ts'
import { headers } from '../../helpers/cursor.ts'
import { callTool, connectAgent } from '../../helpers/mcp-client.ts'
import { waitUntil } from '../../helpers/wait-until.ts'
import { ApiWorld, NOW_MS } from './api-world.ts'

let world: ApiWorld
const ada = { uuid: 'u-1', name: 'laptop', user: 'ada' }
const grace = { uuid: 'u-2', name: 'laptop', user: 'grace' }
const [OWN, ADAS, GRACES] = ['login', 'of-ada', 'of-grace']

beforeAll(async () => {
  world = await ApiWorld.open()
  const store = world.home.global()
  for (const [index, id] of [ADAS, GRACES].entries()) {
    const at = NOW_MS - 600_000 + index * 60_000
    store.chat(id, {
      name: id,
      createdAt: at,
      lastUpdatedAt: at,
      fullConversationHeadersOnly: headers(['q', 'a', 'x']),
    })
    const createdAt = new Date(at).toISOString()
    store.message(id, 'q', { type: 1, text: `login of ${id}`, createdAt })
    store.message(id, 'a', {
      type: 2,
      text: `done by ${id}`,
      createdAt,
      tokenCount: { inputTokens: 7, outputTokens: 3 },
    })
    store.message(id, 'x', { type: 2, text: 'dropped', createdAt })
  }
  await world.indexer.pass('keys')
  store.delete(`bubbleId:${ADAS}:x`)
  await world.indexer.pass('keys')
  giveChat(world.indexer.mirror, asChatId(ADAS), ada)
  giveChat(world.indexer.mirror, asChatId(GRACES), grace)
})
afterAll(() => world.remove())

const json = async (path: string): Promise<unknown> => {
  const response = await world.ask('GET', path)
  expect([path, response.status]).toEqual([path, 200])
  return response.json()
}
type Listed = {
  readonly items: readonly { readonly id: string; readonly chatId: string; readonly chat: { id: string } }[]
}

/** What each route that takes filters tells of the chats that pass. */
const routes: readonly [path: string, read: (answer: never) => unknown, of: (chats: readonly string[]) => unknown][] = [
  ['/api/chats?sort=oldest', ({ items }: Listed) => items.map(({ id }) => id), (chats) => chats],
  [
    '/api/search?q=login+in:text+role:user&sort=oldest',
    ({ items }: Listed) => items.map(({ chat }) => chat.id),
    (chats) => chats,
  ],
  ['/api/stats?', ({ totals }: { totals: { chats: number } }) => totals.chats, (chats) => chats.length],
  [
    '/api/tokens?',
    ({ totals }: { totals: { recorded: { output: number } | null } }) => totals.recorded?.output ?? 0,
    (chats) => chats.reduce((sum, id) => sum + (id === OWN ? 40 : 3), 0),
  ],
  [
    '/api/losses?',
    ({ items }: Listed) => items.map(({ chatId }) => chatId),
    (chats) => chats.filter((id) => id === ADAS),
  ],
]

test.each<[filter: string, chats: readonly string[]]>([
  ['', [OWN, ADAS, GRACES]],
  ['machine=laptop', [ADAS, GRACES]],
  ['machine=ada/laptop', [ADAS]],
  ['machine=grace%2FLAPTOP', [GRACES]],
  ['machine=local', [OWN]],
  ['machine=local&machine=grace/laptop', [OWN, GRACES]],
  ['machine=nobody', []],
])('every route with filters knows %j', async (filter, chats) => {
  for (const [path, read, of] of routes) {
    expect([path, read((await json(`${path}&${filter}`.replace('?&', '?'))) as never)]).toEqual([path, of(chats)])
  }
})

test('each chat says whose it is, in lists, alone and in hits', async () => {
  const machine = { name: 'laptop', user: 'ada' }
  expect(await json(`/api/chats/${ADAS}`)).toMatchObject({ machine })
  expect(await json(`/api/chats?idPrefix=${ADAS}`)).toMatchObject({ items: [{ machine }] })
  expect(await json(`/api/chats/${OWN}`)).toMatchObject({ machine: null })
  expect(await json(`/api/search?q=login+machine:ada/laptop`)).toMatchObject({
    items: [{ chat: { id: ADAS, machine } }],
  })
  expect(await (await world.ask('GET', `/api/chats/${ADAS}/export?as=markdown`)).text()).toContain('ada/laptop')
  expect(await json(`/api/search?q=restart`)).toMatchObject({ items: [{ chat: { id: OWN, machine: null } }] })
})

test('the tools for agents name the machine and take it as a filter', async () => {
  // The chats were active a moment ago.
  const client = await connectAgent((path, init) => world.request(path, init))
  const call = async (name: string, args: Record<string, unknown>): Promise<string> =>
    (await callTool(client, name, args)).text
  const found = await call('search_chats', { query: 'login', machine: 'ada/laptop', include_active: true })
  expect(found).toContain('machine ada/laptop')
  expect(found).not.toContain(GRACES)
  const listed = await call('list_chats', { machine: 'laptop' })
  expect(listed).toMatch(/chat of-grace\n> .*machine grace\/laptop/)
  expect(listed).not.toContain(`chat ${OWN}`)
  expect(await call('list_chats', { path: 'src/session.ts', machine: 'laptop' })).toBe('No chats.')
  expect(await call('get_chat', { chat: ADAS })).toContain('machine ada/laptop')
  expect(await call('get_usage', { machine: 'laptop' })).toContain('recorded 14 in, 6 out')
})

test('chats of other machines are not archived, even if a scope finds them', async () => {
  for (const [scope, chats] of [
    [{}, 1],
    [{ scope: 'login' }, 1],
  ] as const) {
    const made = await world.ask('POST', '/api/archives', JSON.stringify(scope))
    const { name } = (await made.json()) as { readonly name: string }
    const run = await waitUntil('the run', async () => {
      const answer = (await json(`/api/archives/${name}`)) as { readonly state: string; readonly chats: number }
      return answer.state === 'running' ? null : answer
    })
    expect(run).toMatchObject({ state: 'verified', chats })
  }
})

test('a usage row is not matched with a chat of another machine', async () => {
  const file = `Date,Model,Total Tokens\n${new Date(NOW_MS - 600_000).toISOString()},gpt-5,7\n`
  const answer = await world.ask('POST', '/api/tokens/import', file, 'text/csv')
  expect(await answer.json()).toMatchObject({ matched: 0, unmatched: 1 })
})
