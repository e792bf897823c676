import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { ListedLoss } from '../../../src/api/answers/chats.ts'
import type { Page } from '../../../src/api/answers/common.ts'
import { casesBeside } from '../../helpers/cases.ts'
import { headers } from '../../helpers/cursor.ts'
import { World } from '../../helpers/world.ts'

const cases = casesBeside(import.meta.url)

let world: World

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-02-01T00:00:00Z') })
  world = await World.open()
  const store = world.home.global()
  store.chat('talk', { name: 'Login', fullConversationHeadersOnly: headers(['m0', 'm1', 'm2']) })
  for (const id of ['m0', 'm1', 'm2']) store.message('talk', id, { type: 1, text: id })
  store.chat('other/é', { name: 'Other', fullConversationHeadersOnly: headers(['o']) })
  store.message('other/é', 'o', { type: 1, text: 'o' })
  world.home.workspace('w', { folder: 'file:///home/ada/shop' }, ['talk'])
  await world.sync()
  await loseAt('2026-03-01T22:59:59.999Z', 'bubbleId:talk:m1')
  await loseAt('2026-03-01T23:00:00.000Z', 'bubbleId:talk:m2')
  await loseAt('2026-03-02T23:00:00.000Z', 'composerData:other/é', 'bubbleId:other/é:o')
})
afterAll(async () => {
  vi.useRealTimers()
  await world.remove()
})

async function loseAt(iso: string, ...keys: readonly string[]): Promise<void> {
  vi.setSystemTime(Date.parse(iso))
  const store = world.home.global()
  for (const key of keys) store.delete(key)
  await world.sync(true)
}

const list = (query: string): Promise<Page<ListedLoss>> =>
  world.get(`/api/losses?${query.includes('tz=') ? '' : 'tz=Europe/Berlin&'}${query}`)
const namesOf = async (query: string): Promise<string[]> =>
  (await list(query)).items.map(({ chatId, messageId }) => (messageId === null ? chatId : `${chatId} ${messageId}`))

test('what was lost is listed, the last noticed first', async () => {
  const project = { id: expect.any(String), name: 'shop' }
  const message = { kind: 'message', chatId: 'talk', project, title: 'Login' }
  expect(await list('limit=2')).toEqual({
    items: [
      {
        at: '2026-03-02T23:00:00.000Z',
        kind: 'chat',
        chatId: 'other/é',
        messageId: null,
        project: null,
        title: 'Other',
        text: null,
      },
      { at: '2026-03-01T23:00:00.000Z', messageId: 'm2', text: 'm2', ...message },
    ],
    total: 3,
    limit: 2,
    offset: 0,
  })
  expect(await namesOf('limit=2&offset=2')).toEqual(['talk m1'])
})

test.each(cases<[string, string[]]>('periods'))('in the period %s', async (period, names) => {
  expect(await namesOf(period)).toEqual(names)
  expect(await list(period)).toMatchObject({ total: names.length })
})

test('the project filter takes a name or a path', async () => {
  for (const project of ['shop', '/home/ada/shop']) {
    expect(await namesOf(`project=${encodeURIComponent(project)}`)).toEqual(['talk m2', 'talk m1'])
  }
  expect(await list('project=nobody')).toMatchObject({ items: [], total: 0 })
})

test.each(cases<[string, string[]]>('refused'))('%s is a 400 that names the wrong parameter', async (query, names) => {
  const response = await world.request(`/api/losses?${query}`)
  expect(response.status).toBe(400)
  const { errors } = (await response.json()) as { errors: { name: string }[] }
  expect(errors.map(({ name }) => name)).toEqual(names)
})
