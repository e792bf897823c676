import * as fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { arrangeThread } from '../../src/indexer/arrange-thread.ts'
import {
  emptyBatch,
  type ChatWrite,
  type MessageDraft,
  type MessageWrite,
  type OwnRow,
} from '../../src/mirror/batch.ts'
import type { Mirror } from '../../src/mirror/open.ts'
import { packMessage } from '../../src/mirror/pack-message.ts'
import type { ThreadWrite } from '../../src/mirror/place-thread.ts'
import { rewriteInPlace } from '../../src/mirror/rewrite-in-place.ts'
import { writeBatch } from '../../src/mirror/write-batch.ts'
import { asChatId, asMessageId } from '../../src/model/ids.ts'
import { draftOf, noFacts } from '../helpers/mirror-writes.ts'
import { OpenMirror } from '../helpers/open-mirror.ts'

const T0 = 1_760_000_000_000
const CHAT = asChatId('chat')

const opened: OpenMirror[] = []
afterEach(() => opened.splice(0).forEach((one) => one.remove()))

interface Place {
  readonly mirror: Mirror
  readonly source: number
  readonly other: number
}

function open(): Place {
  const one = new OpenMirror()
  opened.push(one)
  return { mirror: one.db, source: one.source('composer-kv'), other: one.source('transcripts') }
}

const message = (id: string, text: string, more: Partial<MessageDraft> = {}): MessageWrite =>
  packMessage(draftOf(id, text, { sentAtMs: T0, ...more }))

function ownRow(ids: readonly string[], createdAtMs = T0): OwnRow {
  const outline = ids.map((id) => ({ id: asMessageId(id), role: null, createdAtMs: null, startedAtMs: null }))
  return { kind: 'read', facts: { ...noFacts, createdAtMs }, outline, embeddedIds: new Set(), octets: 100 }
}

const nothing: ChatWrite = { id: CHAT, ownRow: { kind: 'unread' }, messages: [], vanished: [] }

function write({ mirror, source }: Pick<Place, 'mirror' | 'source'>, chat: Partial<ChatWrite>): void {
  const chats = [{ ...nothing, ...chat }]
  writeBatch(mirror, { ...emptyBatch, source, nowMs: T0, chats }, arrangeThread)
}

const threadOf = (place: Place, chat: Partial<ChatWrite>, more: Partial<ThreadWrite> = {}): ThreadWrite =>
  ({
    chatNum: 1,
    isNew: false,
    write: { ...nothing, ...chat },
    source: place.source,
    owner: place.source,
    isPrompts: false,
    isOrderKnown: true,
    ...more,
  }) as ThreadWrite

/** A chat of three messages, all of one source and in their places. */
function openPlain(): Place {
  const place = open()
  const messages = ['m1', 'm2', 'm3'].map((id) => message(id, `said ${id}`))
  write(place, { ownRow: ownRow(['m1', 'm2', 'm3']), messages })
  return place
}

const again = { messages: [message('m2', 'said anew')] }

test('of a chat in which one message was written anew no other is looked at', () => {
  const place = openPlain()
  const placed = rewriteInPlace(place.mirror, threadOf(place, again))
  expect(placed?.map(([{ columns }, { position }]) => [columns.id, position])).toEqual([['m2', 1]])
})

const movers: readonly (readonly [string, (place: Place) => ThreadWrite])[] = [
  ['a message that is new', (place) => threadOf(place, { messages: [message('m4', 'new')] })],
  ['a message at another time', (place) => threadOf(place, { messages: [message('m2', 'a', { sentAtMs: T0 + 1 })] })],
  ['a message without its time', (place) => threadOf(place, { messages: [message('m2', 'a', { sentAtMs: null })] })],
  ['a message of another role', (place) => threadOf(place, { messages: [message('m2', 'a', { role: 'assistant' })] })],
  ['one more in the chat’s row', (place) => threadOf(place, { messages: [message('m2', 'a', { isEmbedded: true })] })],
  ['a message that went', (place) => threadOf(place, { ...again, vanished: [asMessageId('m3')] })],
  ['nothing but the chat itself', (place) => threadOf(place, {})],
  ['a new order', (place) => threadOf(place, again, { isOrderKnown: false })],
  ['a list of prompts', (place) => threadOf(place, again, { isPrompts: true })],
]

test.each(movers)('%s may move others: all are placed', (_, threadFor) => {
  const place = openPlain()
  expect(rewriteInPlace(place.mirror, threadFor(place))).toBeNull()
})

const looseners: readonly (readonly [string, (place: Place) => void])[] = [
  ['an orphan', (place) => write(place, { messages: [message('stray', 'said beside')] })],
  ['a message that is gone', (place) => write(place, { vanished: [asMessageId('m1')] })],
  [
    'a message of another source',
    ({ mirror, other }) => write({ mirror, source: other }, { messages: [message('m9', 'said elsewhere')] }),
  ],
]

test.each(looseners)('beside %s all are placed', (_, loosen) => {
  const place = openPlain()
  loosen(place)
  expect(rewriteInPlace(place.mirror, threadOf(place, again))).toBeNull()
})

const words = ['walnut', 'hazel', 'almond'] as const
const ids = ['m1', 'm2', 'm3', 'm4'] as const

const someMessage = fc
  .record({
    id: fc.constantFrom(...ids),
    text: fc.constantFrom(...words),
    more: fc.record({
      role: fc.constantFrom('user' as const, 'assistant' as const),
      sentAtMs: fc.constantFrom(null, T0, T0 + 1000),
      model: fc.constantFrom(null, 'gpt-5', 'sonnet'),
      isSimulated: fc.boolean(),
      octets: fc.nat(3),
    }),
  })
  .map(({ id, text, more }) => message(id, text, more))

const someWrite = fc.record({
  messages: fc.array(someMessage, { maxLength: 2 }),
  ownRow: fc.oneof(
    { weight: 3, arbitrary: fc.constant<OwnRow>({ kind: 'unread' }) },
    { weight: 2, arbitrary: fc.constant(ownRow(ids)) },
    { weight: 1, arbitrary: fc.shuffledSubarray([...ids]).map((some) => ownRow(some)) },
    { weight: 1, arbitrary: fc.constant(ownRow(ids, T0 - 5)) },
  ),
  vanished: fc.oneof(
    { weight: 5, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.constant([asMessageId('m2')]) },
  ),
})

const TABLES = ['chats', 'messages', 'bodies', 'chat_digests', 'losses', 'outlines', 'digest_words'] as const

const tellAll = (mirror: Mirror): unknown => [
  ...TABLES.map((table) => mirror.prepare(`select * from ${table}`).all()),
  ...words.map((word) => mirror.prepare('select rowid from message_terms where message_terms match ?').all(word)),
]

test('whether the others are looked at or not, the mirror holds the same', () => {
  fc.assert(
    fc.property(fc.array(someWrite, { minLength: 1, maxLength: 12 }), (writes) => {
      const [quick, slow] = [open(), open()]
      for (const one of writes) {
        write(quick, one)
        // That nobody is gone means that somebody might be: all are placed.
        write(slow, { ...one, vanished: [...one.vanished, asMessageId('nobody')] })
        expect(tellAll(quick.mirror)).toEqual(tellAll(slow.mirror))
      }
      opened.splice(0).forEach((one) => one.remove())
    }),
    { numRuns: 60 },
  )
})
