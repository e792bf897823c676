import { afterEach, beforeEach, expect, test } from 'vitest'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import {
  emptyBatch,
  type Batch,
  type ChatFacts,
  type MessageDraft,
  type MessageWrite,
  type OwnRow,
} from '../../src/mirror/write/batch.ts'
import { openReader, openWriter, type Mirror } from '../../src/mirror/open.ts'
import { packMessage } from '../../src/mirror/write/messages/pack-message.ts'
import { writeBatch } from '../../src/mirror/write/write-batch.ts'
import { asChatId, asMessageId } from '../../src/model/ids.ts'
import { draftOf, noFacts } from '../helpers/mirror-writes.ts'
import { OpenMirror } from '../helpers/open-mirror.ts'

let opened: OpenMirror
let mirror: Mirror
let source: number

beforeEach(() => {
  opened = new OpenMirror()
  mirror = opened.db
  source = opened.source('composer-kv')
})

afterEach(() => opened.remove())

const T0 = 1_760_000_000_000

const message = (id: string, text: string, more: Partial<MessageDraft> = {}): MessageWrite =>
  packMessage(draftOf(id, text, { sentAtMs: T0, ...more }))

function ownRow(ids: readonly string[], facts: Partial<ChatFacts> = {}): OwnRow {
  const outline = ids.map((id) => ({ id: asMessageId(id), role: null, createdAtMs: null, startedAtMs: null }))
  return {
    kind: 'read',
    facts: { ...noFacts, createdAtMs: T0, ...facts },
    outline,
    embeddedIds: new Set(),
    octets: 100,
  }
}

function write(chat: Partial<Batch['chats'][number]>, more: Partial<Batch> = {}) {
  const whole = { id: asChatId('chat'), ownRow: { kind: 'unread' } as const, messages: [], vanished: [], ...chat }
  return writeBatch(mirror, { ...emptyBatch, source, nowMs: T0, chats: [whole], ...more })
}

const found = (term: string): number =>
  (mirror.prepare('select count(*) as n from message_terms where message_terms match ?').get(term) as { n: number }).n

const chatRow = (): Record<string, unknown> => mirror.prepare('select * from chats').get() as Record<string, unknown>

test('writing the same batch twice changes nothing', () => {
  const chat = { ownRow: ownRow(['m1']), messages: [message('m1', 'hello')] }
  expect(write(chat)).toMatchObject({ added: 1 })
  const before = mirror.serialize()
  expect(write(chat)).toEqual({ added: 0, changed: 0, gone: 0, chatIds: [], messages: [], losses: [] })
  expect(mirror.serialize().equals(before)).toBe(true)
})

test('a rewritten message replaces its words in the index', () => {
  write({ messages: [message('m1', 'former words')] })
  write({ messages: [message('m1', 'latter words')] })
  expect([found('former'), found('latter'), found('words')]).toEqual([0, 1, 1])
})

test('a message with a changed time moves in the index and is still found once', () => {
  write({ messages: [message('m1', 'moving'), message('m2', 'staying', { sentAtMs: T0 + 5 })] })
  write({ messages: [message('m1', 'moving', { sentAtMs: T0 + 10 })] })
  expect(found('moving')).toBe(1)
  const order = mirror.prepare('select id from messages order by key').all()
  expect(order).toEqual([{ id: 'm2' }, { id: 'm1' }])
})

test('messages of one millisecond keep their order, even if there are more than 1,024', () => {
  const ids = Array.from({ length: 1500 }, (_, index) => `m${index}`)
  write({ ownRow: ownRow(ids), messages: ids.map((id) => message(id, `text ${id}`)) })
  const order = mirror.prepare('select position from messages order by key').all() as { position: number }[]
  expect(order.slice(0, 1024).map(({ position }) => position)).toEqual(Array.from({ length: 1024 }, (_, at) => at))
  expect(order).toHaveLength(1500)
})

test('a vanished message stays, marked with the time of its loss', () => {
  write({ ownRow: ownRow(['m1', 'm2']), messages: [message('m1', 'one'), message('m2', 'two')] })
  expect(write({ vanished: [asMessageId('m2')] }, { nowMs: T0 + 99 })).toMatchObject({ gone: 1 })
  expect(mirror.prepare('select position, is_live, deleted_at from messages where id = ?').get('m2')).toEqual({
    position: 1,
    is_live: 0,
    deleted_at: T0 + 99,
  })
  expect(found('two')).toBe(1)
  expect(write({ vanished: [asMessageId('m2')] }, { nowMs: T0 + 200 })).toMatchObject({ gone: 0, changed: 0 })
  expect(write({ messages: [message('m2', 'two')] })).toMatchObject({ changed: 1 })
  expect(mirror.prepare('select is_live, deleted_at from messages where id = ?').get('m2')).toEqual({
    is_live: 1,
    deleted_at: null,
  })
})

test('a completely vanished chat keeps its thread', () => {
  write({ ownRow: ownRow(['m1']), messages: [message('m1', 'one')] })
  write({ ownRow: { kind: 'gone' }, vanished: [asMessageId('m1')] }, { nowMs: T0 + 1 })
  expect(chatRow()).toMatchObject({ is_live: 0, deleted_at: T0 + 1, message_count: 1 })
  expect(mirror.prepare('select position, is_orphan from messages').get()).toEqual({ position: 0, is_orphan: 0 })
})

test('an unreadable own row does not change facts and order', () => {
  write({ ownRow: ownRow(['m1'], { name: 'Named' }), messages: [message('m1', 'one')] })
  expect(write({ ownRow: { kind: 'unreadable' } })).toMatchObject({ changed: 0, gone: 0 })
  expect(chatRow()).toMatchObject({ title: 'Named', is_live: 1, message_count: 1 })
})

test('an embedded message that is no longer in its chat’s row is gone', () => {
  const embedded = { isEmbedded: true, octets: 0 }
  const read = ownRow(['m1', 'm2'])
  if (read.kind !== 'read') throw new Error('not read')
  const both = { ...read, embeddedIds: new Set([asMessageId('m1'), asMessageId('m2')]) }
  write({ ownRow: both, messages: [message('m1', 'one', embedded), message('m2', 'two', embedded)] })
  const less = { ...ownRow(['m1']), embeddedIds: new Set([asMessageId('m1')]) } as OwnRow
  expect(write({ ownRow: less, messages: [message('m1', 'one', embedded)] })).toMatchObject({ gone: 1 })
  expect(mirror.prepare('select is_live, is_orphan from messages where id = ?').get('m2')).toEqual({
    is_live: 0,
    is_orphan: 1,
  })
})

test('an orphan with the same content as the thread is stored but not found', () => {
  write({ ownRow: ownRow(['m1']), messages: [message('m1', 'same'), message('twin', 'same')] })
  expect(found('same')).toBe(1)
  write({ ownRow: ownRow([]), messages: [] })
  write({ ownRow: ownRow(['twin']) })
  expect(found('same')).toBe(1)
})

test('a title is the name, else the user’s first words, else a placeholder', () => {
  write({ ownRow: ownRow(['a', 'm1']), messages: [message('a', 'answer', { role: 'assistant' })] })
  expect(chatRow()).toMatchObject({ title: 'Untitled chat', title_source: 'none' })
  write({ messages: [message('m1', `  first\n words ${'x'.repeat(100)}`)] })
  expect(chatRow()).toMatchObject({ title_source: 'first-message' })
  expect(String(chatRow()['title'])).toBe('first words…')
  write({ messages: [message('m1', 'y'.repeat(100))] })
  expect(chatRow()['title']).toBe(`${'y'.repeat(79)}…`)
  write({ ownRow: ownRow(['a', 'm1'], { name: 'A name' }) })
  expect(chatRow()).toMatchObject({ title: 'A name', title_source: 'cursor' })
})

test('evidence that arrives before the chat places the chat, and better evidence moves it', () => {
  const root = (name: string) => ({ uri: `file:///${name}`, path: `/${name}`, name, remote: null })
  const evidence = (rank: number, name: string, method: string) => ({
    chatId: asChatId('chat'),
    method,
    rank,
    root: root(name),
    isOnly: false,
  })
  const project = (): unknown =>
    mirror
      .prepare('select projects.name, project_source as source from chats join projects on projects.num = project')
      .get()
  writeBatch(mirror, { ...emptyBatch, source, nowMs: T0, evidence: [evidence(1, 'first', 'weak')] })
  write({ messages: [message('m1', 'one')] })
  expect(project()).toMatchObject({ source: 'weak' })
  const moved = writeBatch(mirror, {
    ...emptyBatch,
    source,
    nowMs: T0 + 1,
    evidence: [evidence(0, 'second', 'strong')],
  })
  expect(moved.chatIds).toEqual(['chat'])
  expect(project()).toEqual({ name: 'second', source: 'strong' })
})

test('only their owner can read the files of the mirror', () => {
  if (process.platform === 'win32') return
  write({ messages: [message('m1', 'one')] })
  for (const name of ['mirror.db', 'mirror.db-wal', 'mirror.db-shm']) {
    expect(statSync(join(opened.folder, name)).mode & 0o777).toBe(0o600)
  }
})

test('a reader cannot write', () => {
  const reader = openReader(join(opened.folder, 'mirror.db'))
  expect(() => reader.exec('delete from chats')).toThrow(/readonly|read-only|query_only/)
  reader.close()
})

test('a mirror with a newer schema is refused, and the error says what to do', () => {
  mirror.pragma('user_version = 99')
  expect(() => openWriter(join(opened.folder, 'mirror.db'))).toThrow(/has schema 99/)
})
