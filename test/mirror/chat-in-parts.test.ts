import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  emptyBatch,
  type ChatPart,
  type ChatWrite,
  type MessageWrite,
  type OwnRow,
} from '../../src/mirror/write/batch.ts'
import { digestOf } from '../../src/mirror/digests/digest-backlog.ts'
import { readDigest, DigestWords } from '../../src/mirror/digests/write-digest.ts'
import { packMessage } from '../../src/mirror/write/messages/pack-message.ts'
import { addTombstones } from '../../src/mirror/purge/tombstones.ts'
import { writeBatch } from '../../src/mirror/write/write-batch.ts'
import { asChatId, asMessageId } from '../../src/model/ids.ts'
import { draftOf, noFacts } from '../helpers/mirror-writes.ts'
import { OpenMirror } from '../helpers/open-mirror.ts'

const T0 = 1_760_000_000_000
const CHAT = asChatId('chat')
const ids = ['m1', 'm2', 'm3', 'm4'].map(asMessageId)
const outline = ids.map((id) => ({ id, role: null, createdAtMs: null, startedAtMs: null }))
const ownRow: OwnRow = { kind: 'read', facts: noFacts, outline, embeddedIds: new Set(), octets: 100 }

let opened: OpenMirror
let source: number

beforeEach(() => {
  opened = new OpenMirror()
  source = opened.source('store')
})
afterEach(() => opened.remove())

/** @param sentAtMs null: the message gets the time of a neighbour */
const message = (id: string, sentAtMs: number | null = T0, text = `said ${id}`): MessageWrite =>
  packMessage(draftOf(id, text, { sentAtMs }))

function write(chat: Partial<ChatWrite>): void {
  const chats = [{ id: CHAT, ownRow: { kind: 'unread' }, messages: [], vanished: [], ...chat } as const]
  writeBatch(opened.db, { ...emptyBatch, source, nowMs: T0, chats })
}

const part = (isLast: boolean): { readonly part: ChatPart } => ({ part: { isLast, outline } })

/** Writes the chat's own row with the first message, then the second message, which has no time of its own. */
function writeTwoParts(): void {
  write({ ownRow, messages: [message('m1')], ...part(false) })
  write({ messages: [message('m2', null), message('m4')], ...part(false) })
}

const list = (sql: string): unknown[] => opened.db.prepare(sql).raw().all()
const times = (): unknown[] =>
  list('select id, created_at - 1760000000000, created_at_source from messages order by id')
const waiting = (): unknown[] => list('select * from unplaced')

test('a message without a time gets the time of its neighbour when the whole chat is read', () => {
  writeTwoParts()
  expect(times()).toContainEqual(['m2', 0, 'neighbour'])
  expect(waiting()).toHaveLength(1)
  write({ messages: [message('m3', T0 + 500)], ...part(true) })
  expect(times()).toContainEqual(['m2', 500, 'neighbour'])
  expect(waiting()).toEqual([])
})

test('a message rewritten in a partly read chat makes all read messages be placed', () => {
  writeTwoParts()
  write({ messages: [message('m3', T0 + 500)], ...part(false) })
  expect(times()).toContainEqual(['m2', 0, 'neighbour'])
  write({ messages: [message('m4', T0, 'said again')] })
  expect(times()).toContainEqual(['m2', 500, 'neighbour'])
  expect(waiting()).toEqual([])
})

test('statistics include a long chat whose last part is empty', () => {
  write({ ownRow, messages: [message('m1')], ...part(false) })
  write({ messages: [message('m2')], ...part(false) })
  write(part(true))
  expect(readDigest(opened.db, 1)).toEqual(digestOf(opened.db, 1, new DigestWords(opened.db)))
})

test('the messages of a long chat are placed even if its last part was purged', () => {
  addTombstones(opened.db, { messages: [{ chatId: CHAT, id: asMessageId('m3') }] })
  writeTwoParts()
  write({ messages: [message('m3', T0 + 500)], ...part(true) })
  expect(waiting()).toEqual([])
  expect(list('select id from messages order by id')).toEqual([['m1'], ['m2'], ['m4']])
})

test('the last part of a completely purged long chat does not create the chat', () => {
  const messages = ids.map((id) => ({ chatId: CHAT, id }))
  addTombstones(opened.db, { messages })
  write({ messages: [message('m1')], ...part(false) })
  write({ messages: [message('m2')], ...part(true) })
  expect(list('select id from chats')).toEqual([])
})

test('messages of another source are placed together with a partly read chat', () => {
  writeTwoParts()
  const other = opened.source('profile')
  const chats = [{ id: CHAT, ownRow: { kind: 'unread' }, messages: [message('m3', T0 + 500)], vanished: [] } as const]
  writeBatch(opened.db, { ...emptyBatch, source: other, nowMs: T0, chats })
  expect(times()).toContainEqual(['m2', 500, 'neighbour'])
  expect(waiting()).toEqual([])
})

test('a message that two sources have is shown once while a long chat is read', () => {
  const other = opened.source('profile')
  const chats = [{ id: CHAT, ownRow: { kind: 'unread' }, messages: [message('m2')], vanished: [] } as const]
  writeBatch(opened.db, { ...emptyBatch, source: other, nowMs: T0, chats })
  writeTwoParts()
  expect(list(`select id from messages where is_orphan = 0 order by id`)).toEqual([['m1'], ['m2'], ['m4']])
})

test('a message that is deleted while a long chat is read is marked as gone at once', () => {
  writeTwoParts()
  write({ messages: [message('m3')], vanished: [asMessageId('m1')], ...part(false) })
  expect(list('select id from messages where is_live = 0')).toEqual([['m1']])
})
