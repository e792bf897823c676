import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDeadline } from '../../../src/api/search/deadline.ts'
import { filterNodes, type SearchFilters } from '../../../src/api/search/request.ts'
import { parseQuery } from '../../../src/api/search/language/parse.ts'
import { planQuery } from '../../../src/api/search/plan/plan.ts'
import type { TimeOrder } from '../../../src/api/search/match/steps.ts'
import { walkMessages } from '../../../src/api/search/match/walk.ts'
import type { Mirror } from '../../../src/mirror/open.ts'
import { insertChat, insertMessage, insertProject, openTestMirror, requestOf } from '../../helpers/mirror-rows.ts'

const CHATS = 400
const MESSAGES = 7200

interface Message {
  readonly key: number
  readonly chat: number
  readonly at: number
}

const inFew = (chat: number): boolean => chat % 100 === 7
const inMost = (chat: number): boolean => chat % 3 !== 0
const isThird = (at: number): boolean => at % 3 === 0
const isUser = (at: number): boolean => at % 2 === 0

let db: Mirror
const messages: Message[] = []

beforeAll(() => {
  db = openTestMirror()
  db.transaction(() => {
    const few = insertProject(db, 'few')
    const most = insertProject(db, 'most')
    const nums = Array.from({ length: CHATS }, (_, chat) =>
      insertChat(db, { id: `c${chat}`, project: inFew(chat) ? few : inMost(chat) ? most : null }),
    )
    for (let at = 0; at < MESSAGES; at += 1) {
      // Chats are interleaved: between two messages of one chat are messages of all others.
      const chat = (at * 7) % CHATS
      const parts = `common ${isThird(at) ? 'third' : 'other'} words`
      const role = isUser(at) ? 'user' : 'assistant'
      const key = insertMessage(db, nums[chat] ?? 0, { id: `m${at}`, parts, role, createdAtMs: 1e12 + at * 1000 })
      messages.push({ key, chat, at })
    }
  })()
})
afterAll(() => db.close())

function walked(q: string, filters: SearchFilters, order: TimeOrder, wanted: number): readonly number[] {
  const { tree } = parseQuery(q)
  const trees = [...filterNodes(filters), ...(tree === null ? [] : [tree])]
  const plan = planQuery(db, trees, requestOf('').clock)
  return [...walkMessages(db, plan.branches, order, createDeadline(undefined), wanted)]
}

const queries: Readonly<Record<string, (at: number) => boolean>> = {
  common: () => true,
  third: isThird,
  'common third': isThird,
  '"third words"': isThird,
  'thi*': isThird,
  'common -third': (at) => !isThird(at),
  'third OR other': () => true,
  '-third': (at) => !isThird(at),
  'role:user': isUser,
}
const scopes: readonly (readonly [SearchFilters, (message: Message) => boolean])[] = [
  [{}, () => true],
  [{ project: ['few'] }, ({ chat }) => inFew(chat)],
  [{ project: ['most'] }, ({ chat }) => inMost(chat) && !inFew(chat)],
  [{ project: ['most'], to: ['2001-09-09T02:30'] }, ({ chat, at }) => inMost(chat) && !inFew(chat) && at < 2600],
  [{ role: ['user'] }, ({ at }) => isUser(at)],
  [{ project: ['few'], role: ['user'] }, ({ chat, at }) => inFew(chat) && isUser(at)],
  [{ project: ['most'], role: ['user'] }, ({ chat, at }) => inMost(chat) && !inFew(chat) && isUser(at)],
  [{ project: ['few'], from: ['2001-09-09T02:30'] }, ({ chat, at }) => inFew(chat) && at >= 2600],
]

describe('a walk over more messages than one step reads', () => {
  test.each(Object.keys(queries))('yields each match of %s once and in order, with any filter', (q) => {
    const passes = queries[q] ?? (() => false)
    for (const [filters, isWithin] of scopes) {
      const expected = messages.filter((message) => passes(message.at) && isWithin(message)).map(({ key }) => key)
      for (const wanted of [1, 1001, 100_000]) {
        expect(walked(q, filters, 'oldest', wanted)).toEqual(expected)
        expect(walked(q, filters, 'newest', wanted)).toEqual(expected.toReversed())
      }
    }
  })
})
