import { afterAll, beforeAll, expect, test } from 'vitest'
import { CursorHome, headers } from '../../helpers/cursor.ts'
import { RunningDaemon } from '../../helpers/running-daemon.ts'
import { waitUntil } from '../../helpers/wait-until.ts'
import type { SearchAnswer, SuggestAnswer } from '../../../src/api/http/schemas/search.ts'

let home: CursorHome
let daemon: RunningDaemon
beforeAll(async () => {
  home = new CursorHome()
  const store = home.global()
  for (let chat = 0; chat < 20; chat += 1) {
    const text = chat === 7 ? 'The marmalade pods have no priority class.' : 'The migration of the postgres tables'
    store.message(`chat-${chat}`, 'm', { type: 1, text })
    store.chat(`chat-${chat}`, { name: `Talk ${chat} of 登录 and tables`, fullConversationHeadersOnly: headers(['m']) })
  }
  daemon = await RunningDaemon.start({ userDirs: [home.userDir] })
  await daemon.waitReady()
})
afterAll(async () => {
  await daemon.stop()
  home.remove()
})

const suggest = (q: string, limit = 10): Promise<SuggestAnswer> =>
  daemon.get<SuggestAnswer>(`/api/suggest?q=${encodeURIComponent(q)}&limit=${limit}`)
const find = (q: string, more = ''): Promise<SearchAnswer> =>
  daemon.get<SearchAnswer>(`/api/search?q=${encodeURIComponent(q)}${more}`)

test('a running daemon suggests while the user types', async () => {
  await waitUntil('the words to be gathered', async () => (await suggest('p')).isComplete)
  expect((await suggest('postg')).items).toContainEqual({ kind: 'term', text: 'postgres', id: 'postgres', score: 0.85 })
  expect((await suggest('postgers')).items.map(({ text }) => text)).toEqual(['postgres'])
  const chats = (await suggest('登', 5)).items
  expect(chats).toHaveLength(5)
  expect(new Set(chats.map(({ kind }) => kind))).toEqual(new Set(['chat']))
})

test('a misspelt search is corrected, unless the request says not to', async () => {
  const mended = await find('marmelade')
  expect(mended).toMatchObject({ correctedQuery: 'marmalade', total: 1 })
  expect(mended.items[0]?.snippet).toContain('<mark>marmalade</mark>')
  const literal = await find('marmelade', '&literal=true')
  expect(literal).toMatchObject({ correctedQuery: null, total: 0 })
  expect(literal.suggestions).toEqual([{ text: 'marmalade', reason: 'spelling', count: 1 }])
})

test('a list that is too long or invalid is refused', async () => {
  for (const limit of ['0', '21', 'many']) {
    const response = await fetch(`${daemon.url}/api/suggest?q=a&limit=${limit}`)
    expect(response.status).toBe(400)
  }
})
