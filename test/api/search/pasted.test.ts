import { afterAll, beforeAll, expect, test } from 'vitest'
import { search } from '../../../src/api/search/search.ts'
import type { Mirror } from '../../../src/mirror/open.ts'
import { insertChat, insertMessage, openTestMirror, requestOf } from '../../helpers/mirror-rows.ts'
import type { Part } from '../../../src/model/part.ts'

const sentences: Readonly<Record<string, string>> = {
  chinese: '由于数据库连接池中的空闲连接已经全部被其他正在运行的后台任务占用因此本次请求在等待三十秒之后超时',
  japanese: '本番環境のデータベースへの接続がタイムアウトしましたのでアプリケーションを再起動してから確認してください',
  thai: 'ไม่สามารถเชื่อมต่อกับฐานข้อมูลได้เนื่องจากผู้ใช้ไม่มีสิทธิ์เข้าถึงตารางนี้',
}

let db: Mirror
beforeAll(() => {
  db = openTestMirror()
  const chat = insertChat(db, { id: 'chat' })
  for (const [id, text] of Object.entries(sentences)) insertMessage(db, chat, { id, parts: `"${text}"` })
})
afterAll(() => void db.close())

test.each(Object.entries(sentences))(
  'a pasted sentence with more than 32 unspaced characters is found: %s',
  (id, text) => {
    for (const q of [text, `"${text}"`, `${text}。${text}`]) {
      const { items, warnings } = search(db, requestOf(q, { isLiteral: true }))
      expect([items.map(({ message }) => message.id), warnings]).toEqual([
        [id],
        ['Only the first 32 words were searched for.'],
      ])
    }
  },
)

test('an exclusion beyond the limit of words excludes nothing', () => {
  const { items } = search(db, requestOf(`数据库 -${sentences['japanese'] ?? ''}`))
  expect(items.map(({ message }) => message.id)).toEqual(['chinese'])
})

const json = String.raw`{"status":"broken\nfailed","at":"walnut\ttree"}`
const given = (output: string): Part[] => [
  { kind: 'tool', name: 'run', callId: 't', status: 'completed', input: null, output, error: null, paths: [] },
]

test('pasted JSON finds tool output, and the same JSON in a text or after a word', () => {
  const mirror = openTestMirror()
  const chat = insertChat(mirror, { id: 'chat' })
  insertMessage(mirror, chat, { id: 'tool', parts: given(json) })
  insertMessage(mirror, chat, { id: 'behind', parts: given(`Result: ${json}`) })
  insertMessage(mirror, chat, { id: 'text', parts: `It says ${json}` })
  insertMessage(mirror, chat, { id: 'other', parts: 'status: broken at a walnut tree' })
  const { items } = search(mirror, requestOf(json, { isLiteral: true }))
  expect(items.map(({ message }) => message.id).toSorted()).toEqual(['behind', 'text', 'tool'])
  mirror.close()
})
