import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import type { SearchAnswer } from '../../../src/api/answers/search.ts'
import { createDeadline } from '../../../src/api/search/deadline.ts'
import type { SearchRequest } from '../../../src/api/search/request.ts'
import { search } from '../../../src/api/search/search.ts'
import { chatOf, Searched } from './searched.ts'

let searched: Searched
beforeAll(async () => {
  const many = Array.from({ length: 3000 }, () => 'a needle')
  searched = await Searched.of([chatOf(['walnut', 'walnuts and apples', 'apple']), chatOf(many, 'many')])
})
afterEach(() => vi.restoreAllMocks())
afterAll(() => searched.remove())

function ask(q: string, changes: Partial<SearchRequest>): SearchAnswer {
  const clock = { timeZone: 'UTC', nowMs: Date.UTC(2026, 0, 20) }
  const plain = { filters: {}, clock, sort: 'relevance', group: 'message', facets: [], explain: false } as const
  return search(searched.world.mirror, { q, ...plain, limit: 20, offset: 0, ...changes })
}

/** Searches with a clock that stands still for this many readings and is past the deadline after them. */
function searchFor(looks: number): SearchAnswer {
  let left = looks
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (left-- > 0 ? 0 : 1e9))
  try {
    return ask('walnut tool:none role:user', { deadlineMs: 2000 })
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
  const late = ask('-pear', { facets: ['part'], deadlineMs: 0 })
  expect([late.isPartial, late.facets]).toEqual([true, { part: [] }])
})

test('an answer out of time has what was found, and says so', () => {
  const late = ask('needle', { deadlineMs: 0, group: 'chat' })
  expect(late).toMatchObject({ totalIsExact: false, isPartial: true })
  expect(late.items.length).toBeGreaterThan(0)
  expect(late.warnings).toEqual([expect.stringContaining('ran out of time')])
})

test('related chats that run out of time are missed in a warning', () => {
  const { related, warnings } = ask('fix the login timeout', { deadlineMs: 0 })
  expect([related, warnings]).toEqual([[], [expect.stringContaining('no time left')]])
})

test('a deadline checks the clock every 256 rows, and stays passed', () => {
  let nowMs = 0
  const deadline = createDeadline(10, () => nowMs)
  nowMs = 10
  expect(Array.from({ length: 257 }, () => deadline.isPassedAtRow()).indexOf(true)).toBe(255)
  nowMs = 0
  expect(deadline.isPassed()).toBe(true)
})
