import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { search } from '../../../src/api/search/search.ts'
import type { Mirror } from '../../../src/mirror/open.ts'
import { insertChat, insertMessage, openTestMirror, requestOf } from '../../helpers/mirror-rows.ts'
import type { SearchAnswer } from '../../../src/api/http/schemas/search.ts'

let db: Mirror
beforeEach(() => {
  db = openTestMirror()
  const chat = insertChat(db, { id: 'chat' })
  for (const [index, text] of ['walnut', 'walnuts and apples', 'apple'].entries())
    insertMessage(db, chat, { id: `m${index}`, parts: [{ kind: 'text', text }], position: index })
})
afterEach(() => {
  vi.restoreAllMocks()
  db.close()
})

/** Searches with a clock that stands still for this many readings and is past the deadline after them. */
function searchFor(looks: number): SearchAnswer {
  let left = looks
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (left-- > 0 ? 0 : 1e9))
  try {
    return search(db, requestOf('walnut tool:none role:user', { deadlineMs: 2000 }))
  } finally {
    clock.mockRestore()
  }
}

test('if only the suggestions run out of time, an empty answer is not refused', () => {
  const answers = Array.from({ length: 60 }, (_, looks) => searchFor(looks + 2))
  const whole = answers.filter(({ isPartial }) => !isPartial)
  const helped = whole.filter(({ suggestions }) => suggestions.length > 0)
  const unhelped = whole.filter(({ warnings }) => warnings.some((one) => one.startsWith('There was no time left')))
  expect([helped.length, unhelped.length].map((count) => count > 0)).toEqual([true, true])
  expect(whole.map(({ total, totalIsExact }) => [total, totalIsExact])).toEqual(whole.map(() => [0, true]))
  expect(helped.at(-1)?.warnings.join()).not.toContain('no time left')
})

test('after the deadline the facet of parts starts no more searches', () => {
  const late = search(db, requestOf('-pear', { facets: ['part'], deadlineMs: 0 }))
  expect([late.isPartial, late.facets]).toEqual([true, { part: [] }])
})

test.each([
  [999, 'leave 999 messages'],
  [1001, 'leave at least 1000 messages'],
])('for %d filtered messages the count is exact, or a lower bound', (count, warning) => {
  const mirror = openTestMirror()
  const chat = insertChat(mirror, { id: 'chat' })
  mirror.transaction(() => {
    for (let index = 0; index < count; index += 1)
      insertMessage(mirror, chat, { id: `m${index}`, parts: [{ kind: 'text', text: 'walnut' }], position: index })
  })()
  const { total, warnings } = search(mirror, requestOf('0xdeadbeefcafe', { filters: { chat: ['chat'] } }))
  expect(total).toBe(0)
  expect(warnings.join()).toContain(warning)
  mirror.close()
})

test.each([
  [999, { part: true, role: true, matchCount: true }],
  [1001, { part: false, role: true, matchCount: true }],
  [20_001, { part: false, role: false, matchCount: false }],
])('of %d hits, a count that stopped counting says that it is at least so many', (count, exact) => {
  const mirror = openTestMirror()
  const chat = insertChat(mirror, { id: 'chat' })
  mirror.transaction(() => {
    for (let index = 0; index < count; index += 1)
      insertMessage(mirror, chat, { id: `m${index}`, parts: 'walnut', position: index, createdAtMs: 1000 + index })
  })()
  const request = requestOf('walnut', { facets: ['part', 'role'], group: 'chat', sort: 'newest' })
  const { facets, items } = search(mirror, request)
  const [part, role, hit] = [facets['part']?.[0], facets['role']?.[0], items[0]]
  expect({ part: part?.countIsExact, role: role?.countIsExact, matchCount: hit?.matchCountIsExact }).toEqual(exact)
  const counted = [Math.min(count, 1000), Math.min(count, 20_000), Math.min(count, 20_000)]
  expect([part?.count, role?.count, hit?.matchCount]).toEqual(counted)
  mirror.close()
})
