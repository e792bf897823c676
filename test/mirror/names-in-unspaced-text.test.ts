import { expect, test } from 'vitest'
import { search } from '../../src/api/search/search.ts'
import { indexBacklog } from '../../src/mirror/fulltext/backlog.ts'
import { namesInUnspacedText } from '../../src/mirror/migrations/0010-to-0019.ts'
import { openWriter } from '../../src/mirror/open.ts'
import { dropTerms, writeTerms } from '../../src/mirror/fulltext/write-terms.ts'
import { mirrorBefore } from '../helpers/mirror-before.ts'
import { insertChat, insertMessage, requestOf } from '../helpers/mirror-rows.ts'

test('after an upgrade, names in text of unspaced scripts are found in lower case, in messages and titles', () => {
  const { path, db: before } = mirrorBefore(namesInUnspacedText)
  const chat = insertChat(before, { id: 'c' })
  const key = insertMessage(before, chat, { id: 'm', parts: '用GitHub登录', createdAtMs: 1e12 })
  dropTerms(before, key)
  writeTerms(before, key, [Buffer.from('用 git hub 登录 录'), ...Array.from({ length: 5 }, () => Buffer.alloc(0))])
  const titled = insertChat(before, { id: 't', title: '修复MySQL连接' })
  before.prepare('delete from chat_terms where rowid = ?').run(BigInt(titled))
  before.prepare('insert into chat_terms (rowid, title) values (?, ?)').run(BigInt(titled), '修复 复 my sql 连接 接')
  insertMessage(before, titled, { id: 'first', parts: 'plain', createdAtMs: 1e12 + 1 })
  before.close()

  const after = openWriter(path)
  const findIn = (q: string): readonly string[] =>
    search(after, requestOf(q, { isLiteral: true })).items.map(({ message, part }) => `${message.id} ${part}`)
  while (indexBacklog(after) > 0);
  expect(findIn('github')).toEqual(['m text'])
  expect(findIn('GitHub登录')).toEqual(['m text'])
  expect(findIn('mysql')).toEqual(['first title'])
  expect(findIn('plain')).toEqual(['first text'])
  after.close()
})
