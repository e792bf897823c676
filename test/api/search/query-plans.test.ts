import { expect, test } from 'vitest'
import type { SearchRequest } from '../../../src/api/search/request.ts'
import { search } from '../../../src/api/search/search.ts'
import type { Mirror } from '../../../src/mirror/open.ts'
import { insertChat, insertMessage, openTestMirror, requestOf } from '../../helpers/mirror-rows.ts'

/** Records every statement that searches prepare. */
function statementsOf(db: Mirror, requests: readonly SearchRequest[]): readonly string[] {
  const statements = new Set<string>()
  const watched = new Proxy(db, {
    get(target, name) {
      if (name === 'prepare') {
        return (sql: string) => {
          statements.add(sql)
          return target.prepare(sql)
        }
      }
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  for (const request of requests) search(watched, request)
  return [...statements]
}

test('the index is walked by match within rowid bounds, and messages are read by key', () => {
  const db = openTestMirror()
  insertMessage(db, insertChat(db, { id: 'chat', title: 'needle' }), { id: 'm', parts: 'thread', createdAtMs: 1e12 })
  const other = insertChat(db, { id: 'other' })
  // More messages than are read without weighing, in two chats that are far apart in time.
  for (let at = 0; at < 80; at += 1)
    insertMessage(db, other, { id: `o${at}`, parts: 'needle thread', createdAtMs: 1e12 + at })
  insertMessage(db, insertChat(db, { id: 'late' }), { id: 'l', parts: 'needle', createdAtMs: 2e12 })
  const requests = (['relevance', 'newest', 'oldest'] as const).flatMap((sort) =>
    ['needle', 'needle thread', 'need*', '-needle', ''].flatMap((q) => [
      requestOf(q, { sort, limit: 1 }),
      requestOf(q, { sort, limit: 1, filters: { role: ['user'], chat: ['chat', 'other', 'late'], from: ['1975'] } }),
    ]),
  )
  const statements = statementsOf(db, requests)
  const overTerms = statements.filter((sql) => sql.includes('message_terms'))
  expect(overTerms.length).toBeGreaterThanOrEqual(9)

  const words = {
    match: '"needle"',
    exclude: '"needle"',
    low: 1n,
    high: 9n,
    rows: 10,
    chat: 1,
    chats: '[1]',
    keys: '[1]',
    p0: '[1]',
    p1: '["user"]',
  }
  for (const sql of overTerms) {
    const plan = db
      .prepare<[object], { detail: string }>(`explain query plan ${sql}`)
      .all(words)
      .map((row) => row.detail)
    const terms = plan.find((detail) => detail.includes('message_terms'))
    // M: by match. < and >: the bounds of the rowid reached the index.
    expect(terms).toMatch(/VIRTUAL TABLE INDEX \d+:(?=.*M\d)(?=.*<)(?=.*>)/)
    for (const detail of plan.filter((line) => /\bm\b/.test(line))) {
      expect(detail).toMatch(/INTEGER PRIMARY KEY|COVERING INDEX message_facts \(key=\?\)/)
    }
    expect(plan.join('\n')).not.toContain('TEMP B-TREE FOR ORDER BY')
  }

  // Titles are walked by match too, and ranges come from the index on a chat's messages.
  const byTitle = statements.filter((sql) => sql.includes('chat_terms'))
  const byChat = statements.filter(
    (sql) => sql.includes('min(m.key)') || sql.includes('select m.chat, m.key from json_each'),
  )
  expect([byTitle.length > 0, byChat.length > 0]).toEqual([true, true])
  const planOf = (sql: string): string =>
    db
      .prepare<[object], { detail: string }>(`explain query plan ${sql}`)
      .all({ ...words, near: '[1]' })
      .map((row) => row.detail)
      .join('; ')
  for (const sql of byTitle) expect(planOf(sql)).toMatch(/SCAN chat_terms VIRTUAL TABLE INDEX \d+:.*M\d/)
  for (const sql of byChat) expect(planOf(sql)).toMatch(/SEARCH (m|messages) USING COVERING INDEX messages_by_chat/)
  db.close()
})
