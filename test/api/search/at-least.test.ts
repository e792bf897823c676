import { afterEach, beforeEach, expect, test } from 'vitest'
import { search } from '../../../src/api/search/search.ts'
import type { Mirror } from '../../../src/mirror/open.ts'
import { insertChat, insertMessage, openTestMirror, requestOf } from '../../helpers/mirror-rows.ts'

let db: Mirror
beforeEach(() => {
  db = openTestMirror()
})
afterEach(() => db.close())

test.each([
  [999, 'leave 999 messages'],
  [1001, 'leave at least 1000 messages'],
])('for %d filtered messages the count is exact, or a lower bound', (count, said) => {
  const chat = insertChat(db, { id: 'chat' })
  db.transaction(() => {
    for (let index = 0; index < count; index += 1)
      insertMessage(db, chat, { id: `m${index}`, parts: [{ kind: 'text', text: 'walnut' }], position: index })
  })()
  const { total, warnings } = search(db, requestOf('0xdeadbeefcafe', { filters: { chat: ['chat'] } }))
  expect(total).toBe(0)
  expect(warnings.join()).toContain(said)
})
