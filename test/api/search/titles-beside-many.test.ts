import { afterAll, beforeAll, expect, test } from 'vitest'
import { search } from '../../../src/api/search/search.ts'
import type { Mirror } from '../../../src/mirror/open.ts'
import { requestOf } from '../../helpers/mirror-rows.ts'
import { openWalnutMirror } from '../../helpers/walnut-mirror.ts'

const TITLED = 300
const SAID_IN = 4
/** In chats of 300 messages: more than are counted one by one. */
const SAID = 300 * SAID_IN

let db: Mirror

beforeAll(() => {
  db = openWalnutMirror(TITLED, SAID_IN)
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
  expect(facets['role']).toEqual([{ value: 'user', label: 'user', count: TITLED + SAID, countIsExact: true }])
  expect(facets['month']?.map(({ value, count }) => [value, count])).toEqual([
    ['2026-02', SAID],
    ['2026-01', TITLED],
  ])
})

test('a thousand chats that only their titles name were told as all there are', () => {
  const many = openWalnutMirror(1500, 0)
  for (const sort of ['newest', 'oldest', 'relevance'] as const) {
    expect(search(many, requestOf('walnuts', { sort }))).toMatchObject({ total: 1000, totalIsExact: false })
  }
  const grouped = search(many, requestOf('walnuts', { group: 'chat', facets: ['role'] }))
  expect(grouped).toMatchObject({ total: 1000, totalIsExact: false })
  expect(grouped.warnings).toContain('Of chats that match only by title, the facets count the newest 1000.')
  many.close()
})
