import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  emptyBatch,
  type ChatPart,
  type ChatWrite,
  type MessageWrite,
  type OwnRow,
} from '../../src/mirror/write/batch.ts'
import { digestOf } from '../../src/mirror/digests/digest-backlog.ts'
import { DigestWords } from '../../src/mirror/digests/digest-words.ts'
import { readDigest } from '../../src/mirror/digests/write-digest.ts'
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

/** @param sentAtMs null: its time is that of a neighbour */
const message = (id: string, sentAtMs: number | null = T0, text = `said ${id}`): MessageWrite =>
  packMessage(draftOf(id, text, { sentAtMs }))

function write(chat: Partial<ChatWrite>): void {
  const chats = [{ id: CHAT, ownRow: { kind: 'unread' }, messages: [], vanished: [], ...chat } as const]
  writeBatch(opened.db, { ...emptyBatch, source, nowMs: T0, chats })
}

const part = (isLast: boolean): { readonly part: ChatPart } => ({ part: { isLast, outline } })

/** The chat's own row and its first message, and then the second, which waits for its neighbour to know its time. */
function writeTwoParts(): void {
  write({ ownRow, messages: [message('m1')], ...part(false) })
  write({ messages: [message('m2', null), message('m4')], ...part(false) })
}

const list = (sql: string): unknown[] => opened.db.prepare(sql).raw().all()
const times = (): unknown[] =>
  list('select id, created_at - 1760000000000, created_at_source from messages order by id')
const waiting = (): unknown[] => list('select * from unplaced')

test('a message without a time has that of its neighbour once the whole chat is read', () => {
  writeTwoParts()
  expect(times()).toContainEqual(['m2', 0, 'neighbour'])
  expect(waiting()).toHaveLength(1)
  write({ messages: [message('m3', T0 + 500)], ...part(true) })
  expect(times()).toContainEqual(['m2', 500, 'neighbour'])
  expect(waiting()).toEqual([])
})

test('a message that was written anew amid a chat half read places all that was read', () => {
  writeTwoParts()
  write({ messages: [message('m3', T0 + 500)], ...part(false) })
  expect(times()).toContainEqual(['m2', 0, 'neighbour'])
  write({ messages: [message('m4', T0, 'said again')] })
  expect(times()).toContainEqual(['m2', 500, 'neighbour'])
  expect(waiting()).toEqual([])
})

test('statistics left out what was read of a long chat where its last part held nothing', () => {
  write({ ownRow, messages: [message('m1')], ...part(false) })
  write({ messages: [message('m2')], ...part(false) })
  write(part(true))
  expect(readDigest(opened.db, 1)).toEqual(digestOf(opened.db, 1, new DigestWords(opened.db)))
})

test('the messages of a long chat whose last part was purged stand in their places', () => {
  addTombstones(opened.db, { messages: [{ chatId: CHAT, id: asMessageId('m3') }] })
  writeTwoParts()
  write({ messages: [message('m3', T0 + 500)], ...part(true) })
  expect(waiting()).toEqual([])
  expect(list('select id from messages order by id')).toEqual([['m1'], ['m2'], ['m4']])
})

test('a long chat of which all was purged is none, and the end of it makes none', () => {
  const messages = ids.map((id) => ({ chatId: CHAT, id }))
  addTombstones(opened.db, { messages })
  write({ messages: [message('m1')], ...part(false) })
  write({ messages: [message('m2')], ...part(true) })
  expect(list('select id from chats')).toEqual([])
})

test('what another source tells of a chat half read is placed with all of it', () => {
  writeTwoParts()
  const other = opened.source('profile')
  const chats = [{ id: CHAT, ownRow: { kind: 'unread' }, messages: [message('m3', T0 + 500)], vanished: [] } as const]
  writeBatch(opened.db, { ...emptyBatch, source: other, nowMs: T0, chats })
  expect(times()).toContainEqual(['m2', 500, 'neighbour'])
  expect(waiting()).toEqual([])
})

test('a message that another source holds too stands once while a long chat is read', () => {
  const other = opened.source('profile')
  const chats = [{ id: CHAT, ownRow: { kind: 'unread' }, messages: [message('m2')], vanished: [] } as const]
  writeBatch(opened.db, { ...emptyBatch, source: other, nowMs: T0, chats })
  writeTwoParts()
  expect(list(`select id from messages where is_orphan = 0 order by id`)).toEqual([['m1'], ['m2'], ['m4']])
})

test('a message that went while a long chat is read is gone at once', () => {
  writeTwoParts()
  write({ messages: [message('m3')], vanished: [asMessageId('m1')], ...part(false) })
  expect(list('select id from messages where is_live = 0')).toEqual([['m1']])
})
