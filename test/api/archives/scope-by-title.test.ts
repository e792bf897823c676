import { afterAll, beforeAll, expect, test } from 'vitest'
import { chatsOfScope } from '../../../src/api/search/chats-of-scope.ts'
import type { Mirror } from '../../../src/mirror/open.ts'
import { openWalnutMirror } from '../../helpers/walnut-mirror.ts'

const TITLED = 300
/** Of 300 messages each: more than are counted one by one. */
const SAID_IN = 4

let db: Mirror

beforeAll(() => {
  db = openWalnutMirror(TITLED, SAID_IN)
})
afterAll(() => void db.close())

test('an archive of search results includes chats that match only by title, however many messages match', () => {
  const clock = { timeZone: 'UTC', nowMs: Date.UTC(2026, 2, 1) }
  const count = (q: string): number | undefined => chatsOfScope(db, { q, filters: {} }, clock)?.length
  expect(count('walnuts')).toBe(TITLED + SAID_IN)
  expect(count('walnuts before:2026-02')).toBe(TITLED)
  expect(count('walnuts after:2026-02')).toBe(SAID_IN)
})
