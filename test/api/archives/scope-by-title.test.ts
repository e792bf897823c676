import { afterAll, beforeAll, expect, test } from 'vitest'
import { chatsOfScope } from '../../../src/api/search/chats-of-scope.ts'
import type { Mirror } from '../../../src/mirror/open.ts'
import { insertChat, insertMessage, openTestMirror } from '../../helpers/mirror-rows.ts'

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

test('an archive of what a search finds holds the chats that only their titles name, however many messages are found', () => {
  const clock = { timeZone: 'UTC', nowMs: Date.UTC(2026, 2, 1) }
  const count = (q: string): number | undefined => chatsOfScope(db, { q, filters: {} }, clock)?.length
  expect(count('walnuts')).toBe(TITLED + SAID_IN)
  expect(count('walnuts before:2026-02')).toBe(TITLED)
  expect(count('walnuts after:2026-02')).toBe(SAID_IN)
})
