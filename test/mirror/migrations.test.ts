import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { search } from '../../src/api/search/search.ts'
import { indexBacklog } from '../../src/mirror/fulltext/backlog.ts'
import { dropTerms, writeTerms } from '../../src/mirror/fulltext/write-terms.ts'
import { chatDigests, chatOfMessage } from '../../src/mirror/migrations/0002-to-0009.ts'
import { fencedCode, namesInUnspacedText } from '../../src/mirror/migrations/0010-to-0019.ts'
import { deletions } from '../../src/mirror/migrations/0024-deletions.ts'
import { migrations } from '../../src/mirror/migrations/index.ts'
import { openWriter } from '../../src/mirror/open.ts'
import type { Part } from '../../src/model/part.ts'
import { marksOf } from '../../src/text/terms/marks.ts'
import { indexTermBytes } from '../../src/text/terms/terms.ts'
import { mirrorBefore } from '../helpers/mirror-before.ts'
import { insertChat, insertMessage, insertProject, requestOf } from '../helpers/mirror-rows.ts'

const fenced: Part = { kind: 'text', text: 'so:\n```\nneedle()\n```' }
const code: Part = { kind: 'code', language: null, path: null, text: 'thread()' }
const plain: Part = { kind: 'text', text: 'plain' }

/** The parts of a message, and its marks from before fenced code counted as code. */
const messages: readonly [parts: readonly Part[], marks: readonly string[]][] = [
  [[fenced], ['in:text', 'has:code']],
  [
    [fenced, code],
    ['in:text', 'has:code', 'in:code'],
  ],
  [
    [code, fenced],
    ['in:code', 'has:code', 'in:text'],
  ],
  [
    [plain, code],
    ['in:text', 'in:code', 'has:code'],
  ],
  [[plain], ['in:text']],
]

test('after an upgrade, fenced code is found as code, and no message counts as changed', () => {
  const { path, db: before } = mirrorBefore(fencedCode)
  const chat = insertChat(before, { id: 'c' })
  for (const [at, [parts, marks]] of messages.entries()) {
    const key = insertMessage(before, chat, { id: `m${at}`, parts, createdAtMs: 1e12 + at })
    before.prepare('update messages set marks = ? where key = ?').run(JSON.stringify(marks), key)
    dropTerms(before, key)
    const asText = indexTermBytes(parts.map((part) => ('text' in part ? part.text : '')).join('\n'))
    writeTerms(before, key, [asText, ...Array.from({ length: 5 }, () => Buffer.alloc(0))])
  }
  before.close()

  const after = openWriter(path)
  const findIn = (q: string): readonly string[] =>
    search(after, requestOf(q, { sort: 'oldest' })).items.map(({ message }) => message.id)
  expect(findIn('needle')).toEqual([])
  while (indexBacklog(after) > 0);
  expect(findIn('in:code needle')).toEqual(['m0', 'm1', 'm2'])
  expect(findIn('in:code')).toEqual(['m0', 'm1', 'm2', 'm3'])
  expect(findIn('plain')).toEqual(['m3', 'm4'])
  const marks = after.prepare<[], string>('select marks from messages order by key').pluck().all()
  expect(marks.map((each) => JSON.parse(each) as unknown)).toEqual(messages.map(([parts]) => marksOf(parts)))
  after.close()
})

const INDEXES = `select name from sqlite_master where type = 'index' and name = 'message_facts'`

test('an older mirror gets the index of chats by message, and a search within a large project works', () => {
  const { path, db: before } = mirrorBefore(chatOfMessage)
  const project = insertProject(before, 'large')
  // More chats than a query lists one by one.
  for (let at = 0; at < 450; at += 1) {
    const chat = insertChat(before, { id: `c${at}`, project: at % 2 === 0 ? project : null })
    insertMessage(before, chat, { id: `m${at}`, parts: 'needle', createdAtMs: 1e12 + at })
  }
  before.close()

  const after = openWriter(path)
  while (indexBacklog(after) > 0);
  expect(after.prepare<[], string>(INDEXES).pluck().all()).toEqual(['message_facts'])
  const { total } = search(after, requestOf('needle', { filters: { project: ['large'] }, sort: 'newest' }))
  expect(total).toBe(225)
  after.close()
})

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

test('after an upgrade, rows that Cursor deleted by writing NULL no longer count as unreadable', () => {
  const { path, db: before } = mirrorBefore(deletions)
  const add = before.prepare(`insert into row_issues (source, key, reason, octets, noted_at) values (1, ?, ?, ?, 0)`)
  add.run('composerData:a', 'null-value', null)
  add.run('empty.jsonl', 'null-value', 0)
  add.run('bubbleId:a:m', 'unreadable-page', null)
  before.close()
  const after = openWriter(path)
  expect(after.prepare('select key from row_issues').pluck().all()).toEqual(['bubbleId:a:m', 'empty.jsonl'])
  after.close()
})

/** A mirror of an older version with one message, in which a column has a name that no version used. */
function foreignMirror(): string {
  const { path, db } = mirrorBefore(chatDigests)
  insertMessage(db, insertChat(db, { id: 'c' }), { id: 'm', parts: 'kept', createdAtMs: 1e12 })
  db.exec('alter table messages rename column marks to signs')
  db.close()
  return path
}

function stateOf(path: string): { version: unknown; schema: unknown[]; messages: unknown } {
  const db = new Database(path)
  try {
    return {
      version: db.pragma('user_version', { simple: true }),
      schema: db.prepare('select name from sqlite_schema order by name').pluck().all(),
      messages: db.prepare('select count(*) from messages').pluck().get(),
    }
  } finally {
    db.close()
  }
}

test('an upgrade that fails midway leaves the mirror unchanged, and the error says what to do', () => {
  const path = foreignMirror()
  const before = stateOf(path)
  expect(before).toMatchObject({ version: migrations.indexOf(chatDigests), messages: 1 })
  expect(() => openWriter(path)).toThrow(
    expect.objectContaining({ code: 'mirror-foreign', hint: expect.stringContaining('--data-dir') as string }),
  )
  expect(stateOf(path)).toEqual(before)
})
