import { afterEach, beforeEach, expect, test } from 'vitest'
import { indexBacklog, countWaiting, workOffSome } from '../../src/mirror/fulltext/backlog.ts'
import { emptyBatch, type Batch } from '../../src/mirror/write/batch.ts'
import { packMessage } from '../../src/mirror/write/messages/pack-message.ts'
import { writeBatch } from '../../src/mirror/write/write-batch.ts'
import { asChatId } from '../../src/model/ids.ts'
import { draftOf } from '../helpers/mirror-writes.ts'
import { OpenMirror } from '../helpers/open-mirror.ts'

const T0 = 1_760_000_000_000
let opened: OpenMirror
let source: number

beforeEach(() => {
  opened = new OpenMirror()
  source = opened.source('composer-kv')
})

afterEach(() => opened.remove())

const listed = (): string[] => opened.db.prepare<[], string>('select term from terms').pluck().all()

function write(text: string, more: Partial<Batch> = {}): void {
  const messages = [packMessage(draftOf('m1', text, { sentAtMs: T0 }))]
  const chat = { id: asChatId('chat'), ownRow: { kind: 'unread' } as const, messages, vanished: [] }
  writeBatch(opened.db, { ...emptyBatch, source, nowMs: T0, chats: [chat], ...more })
}

const found = (term: string): number =>
  opened.db
    .prepare<[string], number>('select count(*) from message_terms where message_terms match ?')
    .pluck()
    .get(term) ?? 0

const position = { identity: 'x', signature: null, watermark: 1, watermarkKey: 'k' }

test('a term of a failed transaction is listed by the next successful one', () => {
  opened.db.exec(`create temp trigger full before update on sources begin select raise(abort, 'full'); end`)
  expect(() => write('pineapple', { position })).toThrow('full')
  expect(listed()).toEqual([])
  opened.db.exec('drop trigger full')
  write('pineapple', { position })
  expect(listed()).toContain('pineapple')
})

test.each([
  ['of a backlog run', { isIndexedLater: true }, 'unindexed', () => indexBacklog(opened.db)],
  ['left for later', { isListedLater: true }, 'unlisted', () => workOffSome(opened.db)],
] as const)('a term %s that failed is listed by the one that succeeds', (_, later, table, workOff) => {
  // Longer than the chat's title, because the terms of titles are listed at once.
  write(`${'apple '.repeat(30)} grapefruit`, later)
  opened.db.exec(`create temp trigger full before delete on ${table} begin select raise(abort, 'full'); end`)
  expect(workOff).toThrow('full')
  opened.db.exec('drop trigger full')
  expect(workOff()).toBe(1)
  expect(listed()).toContain('grapefruit')
})

test('a message whose terms are listed later is found by each word at once', () => {
  write(`${'apple '.repeat(30)} grapefruit`, { isListedLater: true })
  expect([found('grapefruit'), listed().includes('grapefruit'), countWaiting(opened.db)]).toEqual([1, false, 1])
  expect(workOffSome(opened.db)).toBe(1)
  expect([found('grapefruit'), listed().includes('grapefruit'), countWaiting(opened.db)]).toEqual([1, true, 0])
  expect(workOffSome(opened.db)).toBe(0)
})

test('a message rewritten while its terms wait is found by its new words, and these are listed', () => {
  write(`${'apple '.repeat(30)} grapefruit`, { isListedLater: true })
  write(`${'apple '.repeat(30)} tangerine`, { isListedLater: true })
  while (workOffSome(opened.db) > 0);
  expect([found('grapefruit'), found('tangerine'), listed().includes('tangerine')]).toEqual([0, 1, true])
  opened.db.exec(`insert into message_terms (message_terms) values ('integrity-check')`)
})

test('more terms than the initial size of the cache are all listed', () => {
  const words = Array.from({ length: 30_000 }, (_, at) => `word${at.toString(36).replaceAll(/\d/g, 'q')}`)
  write(words.join(' '))
  const terms = new Set(listed())
  expect(words.filter((word) => !terms.has(word))).toEqual([])
})
