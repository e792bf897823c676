import { afterAll, beforeAll, expect, test } from 'vitest'
import { search } from '../../../src/api/search/search.ts'
import type { Mirror } from '../../../src/mirror/open.ts'
import { insertChat, insertMessage, openTestMirror, requestOf } from '../../helpers/mirror-rows.ts'

const TITLED = 300
const SAID_IN = 4
/** More than are counted one by one. */
const SAID = 1200

let db: Mirror

beforeAll(() => {
  db = openTestMirror()
  const fill = db.transaction(() => {
    for (let at = 0; at < TITLED; at += 1) {
      const chat = insertChat(db, { id: `titled${at}`, title: `About walnuts ${at}` })
      insertMessage(db, chat, { id: `t${at}`, parts: 'nothing of the kind', createdAtMs: Date.UTC(2026, 0, 1) + at })
    }
    for (let at = 0; at < SAID_IN; at += 1) {
      const chat = insertChat(db, { id: `said${at}`, title: 'Bread' })
      for (let number = 0; number < SAID / SAID_IN; number += 1) {
        const createdAtMs = Date.UTC(2026, 1, 1 + at) + number
        insertMessage(db, chat, { id: `s${at}-${number}`, parts: 'bread with walnuts', createdAtMs, position: number })
      }
    }
  })
  fill()
})
afterAll(() => void db.close())

test.each(['newest', 'oldest', 'relevance'] as const)(
  'grouped by chat (%s), the chats that only their titles name are all counted beside many messages',
  (sort) => {
    const { total, totalIsExact, items } = search(
      db,
      requestOf('walnuts', { group: 'chat', sort, offset: 200, limit: 200 }),
    )
    expect([total, totalIsExact, items.length]).toEqual([TITLED + SAID_IN, true, TITLED + SAID_IN - 200])
  },
)

test('facets count every title that is found beside many messages', () => {
  const { facets } = search(db, requestOf('walnuts', { facets: ['role', 'month'] }))
  expect(facets['role']).toEqual([{ value: 'user', label: 'user', count: TITLED + SAID }])
  expect(facets['month']?.map(({ value, count }) => [value, count])).toEqual([
    ['2026-02', SAID],
    ['2026-01', TITLED],
  ])
})

test('a thousand chats that only their titles name were told as all there are', () => {
  const many = openTestMirror()
  const fill = many.transaction(() => {
    for (let at = 0; at < 1500; at += 1) {
      const chat = insertChat(many, { id: `chat${at}`, title: `About walnuts ${at}` })
      insertMessage(many, chat, { id: `m${at}`, parts: 'nothing of the kind', createdAtMs: Date.UTC(2026, 0, 1) + at })
    }
  })
  fill()
  for (const sort of ['newest', 'oldest', 'relevance'] as const) {
    expect(search(many, requestOf('walnuts', { sort }))).toMatchObject({ total: 1000, totalIsExact: false })
  }
  const grouped = search(many, requestOf('walnuts', { group: 'chat', facets: ['role'] }))
  expect(grouped).toMatchObject({ total: 1000, totalIsExact: false })
  expect(grouped.warnings).toContain('Of chats that only their titles name the facets count the last 1000.')
  many.close()
})
