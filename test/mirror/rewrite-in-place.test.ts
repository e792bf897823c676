import * as fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import {
  emptyBatch,
  type ChatWrite,
  type MessageDraft,
  type MessageWrite,
  type OwnRow,
} from '../../src/mirror/write/batch.ts'
import type { Mirror } from '../../src/mirror/open.ts'
import { packMessage } from '../../src/mirror/write/messages/pack-message.ts'
import type { ThreadWrite } from '../../src/mirror/threads/place-thread.ts'
import { rewriteInPlace } from '../../src/mirror/maintenance/rewrite-in-place.ts'
import { SourceRanks } from '../../src/mirror/sources/source-ranks.ts'
import { writeBatch } from '../../src/mirror/write/write-batch.ts'
import type { Part } from '../../src/model/part.ts'
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
  /** A source of the same rank. */
  readonly equal: number
  /** A source of a worse rank. */
  readonly other: number
}

function open(): Place {
  const one = new OpenMirror()
  opened.push(one)
  const [source, equal, other] = [one.source('store', 1), one.source('profile', 1), one.source('transcripts', 3)]
  return { mirror: one.db, source, equal, other }
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
  writeBatch(mirror, { ...emptyBatch, source, nowMs: T0, chats })
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
    lent: new Map(),
    tools: { ranks: new SourceRanks(place.mirror) },
    ...more,
  }) as ThreadWrite

/** A chat of three messages of one source, all in the thread. */
function openPlain(): Place {
  const place = open()
  const messages = ['m1', 'm2', 'm3'].map((id) => message(id, `said ${id}`))
  write(place, { ownRow: ownRow(['m1', 'm2', 'm3']), messages })
  return place
}

const aCall: Part = {
  kind: 'tool',
  name: 'grep',
  status: 'completed',
  callId: null,
  input: { pattern: 'walnut' },
  output: null,
  error: null,
  paths: ['/home/ada/shop'],
}

const again = { messages: [message('m2', 'said anew')] }

test('rewriting one message of a chat does not read the others', () => {
  const place = openPlain()
  const placed = rewriteInPlace(place.mirror, threadOf(place, again))
  expect(placed?.map(([{ columns }, { position }]) => [columns.id, position])).toEqual([['m2', 1]])
})

const movers: readonly (readonly [string, (place: Place) => ThreadWrite])[] = [
  ['a new message', (place) => threadOf(place, { messages: [message('m4', 'new')] })],
  ['a message with another time', (place) => threadOf(place, { messages: [message('m2', 'a', { sentAtMs: T0 + 1 })] })],
  ['a message that lost its time', (place) => threadOf(place, { messages: [message('m2', 'a', { sentAtMs: null })] })],
  [
    'a message with another role',
    (place) => threadOf(place, { messages: [message('m2', 'a', { role: 'assistant' })] }),
  ],
  [
    'a message that now calls a tool',
    (place) => threadOf(place, { messages: [message('m2', '', { parts: [aCall] })] }),
  ],
  [
    'a message that is now in the chat’s row',
    (place) => threadOf(place, { messages: [message('m2', 'a', { isEmbedded: true })] }),
  ],
  ['a deleted message', (place) => threadOf(place, { ...again, vanished: [asMessageId('m3')] })],
  ['only the chat’s own row', (place) => threadOf(place, {})],
  ['a new order', (place) => threadOf(place, again, { isOrderKnown: false })],
  ['a list of prompts', (place) => threadOf(place, again, { isPrompts: true })],
]

test.each(movers)('all messages are placed again after %s', (_, threadFor) => {
  const place = openPlain()
  expect(rewriteInPlace(place.mirror, threadFor(place))).toBeNull()
})

type Beside = readonly [string, (place: Place) => void]

const elsewhere = ({ mirror, other }: Place, messages: readonly MessageWrite[]): void =>
  write({ mirror, source: other }, { messages: messages.map((one) => ({ ...one, isEmbedded: true })) })

const touched: readonly Beside[] = [
  ['an orphan with the former text', (place) => write(place, { messages: [message('stray', 'said m2')] })],
  ['an orphan with the new text', (place) => write(place, { messages: [message('stray', 'said anew')] })],
  ['another source with the former text', (place) => elsewhere(place, [message('t2', 'said m2')])],
  ['another source with the new text', (place) => elsewhere(place, [message('t2', 'said anew')])],
  [
    'a source of the same rank',
    ({ mirror, equal }) => write({ mirror, source: equal }, { messages: [message('m9', 'said in another profile')] }),
  ],
  [
    'a message inside the chat’s own row',
    (place) => write(place, { messages: [message('m9', 'said within', { isEmbedded: true })] }),
  ],
]

test.each(touched)('all messages are placed again if there is %s', (_, put) => {
  const place = openPlain()
  put(place)
  expect(rewriteInPlace(place.mirror, threadOf(place, again))).toBeNull()
})

const untouched: readonly Beside[] = [
  ['an orphan with another text', (place) => write(place, { messages: [message('stray', 'said beside')] })],
  ['a message that is gone', (place) => write(place, { vanished: [asMessageId('m1')] })],
  ['another source with other messages', (place) => elsewhere(place, [message('t1', 'said m1')])],
]

test.each(untouched)('no other message is read if there is %s', (_, put) => {
  const place = openPlain()
  put(place)
  expect(rewriteInPlace(place.mirror, threadOf(place, again))).toHaveLength(1)
})

const words = ['walnut', 'hazel', 'almond'] as const
const listed = ['m1', 'm2', 'm3'] as const
/** Outlines mostly lack the last two. */
const ids = [...listed, 'm4', 'm5'] as const

const seldom = (weight: number): fc.Arbitrary<boolean> =>
  fc.oneof({ weight, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) })

/** Mostly only the words change. There are few texts, so a message often has a text that another one had. */
const someMessage = fc
  .record({
    id: fc.constantFrom(...ids),
    texts: fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 2 }),
    isMoved: seldom(12),
    isOtherRole: seldom(12),
    isEmbedded: seldom(6),
    isCall: seldom(4),
    more: fc.record({ model: fc.constantFrom(null, 'gpt-5', 'sonnet'), isSimulated: fc.boolean(), octets: fc.nat(3) }),
  })
  .map(({ id, texts, isMoved, isOtherRole, isEmbedded, isCall, more }) => {
    const at = ids.indexOf(id)
    const role = (at % 2 === 0) === isOtherRole ? ('assistant' as const) : ('user' as const)
    const parts = isCall ? [aCall] : texts.map((text) => ({ kind: 'text' as const, text }))
    return message(id, '', { ...more, parts, isEmbedded, role, sentAtMs: isMoved ? null : T0 + at * 1000 })
  })

/** Messages as in a transcript, with ids of its own. */
const toldElsewhere = (one: MessageWrite): MessageWrite => ({
  ...one,
  id: asMessageId(`told-${one.id}`),
  sentAtMs: null,
  isEmbedded: true,
})

/** Mostly writes of the store, sometimes of a source with another version of the same chat. */
const someWrite = fc.record({
  by: fc.oneof(
    { weight: 6, arbitrary: fc.constant('source' as const) },
    { weight: 2, arbitrary: fc.constant('other' as const) },
    { weight: 1, arbitrary: fc.constant('equal' as const) },
  ),
  messages: fc.array(someMessage, { maxLength: 2 }),
  ownRow: fc.oneof(
    { weight: 8, arbitrary: fc.constant<OwnRow>({ kind: 'unread' }) },
    { weight: 8, arbitrary: fc.constant(ownRow(listed)) },
    { weight: 1, arbitrary: fc.shuffledSubarray([...ids]).map((some) => ownRow(some)) },
    { weight: 1, arbitrary: fc.constant(ownRow(ids, T0 - 5)) },
    { weight: 1, arbitrary: fc.constant<OwnRow>({ kind: 'gone' }) },
  ),
  vanished: fc.oneof(
    { weight: 9, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.constant([asMessageId('m2')]) },
  ),
})

const TABLES = ['chats', 'messages', 'bodies', 'chat_digests', 'losses', 'outlines', 'digest_words'] as const

const tellAll = (mirror: Mirror): unknown => [
  ...TABLES.map((table) => mirror.prepare(`select * from ${table}`).all()),
  ...words.map((word) => mirror.prepare('select rowid from message_terms where message_terms match ?').all(word)),
]

test('the shortcut gives the same mirror as placing all messages', () => {
  fc.assert(
    fc.property(fc.array(someWrite, { minLength: 4, maxLength: 16 }), (writes) => {
      const [quick, slow] = [open(), open()]
      try {
        for (const { by, messages, ...rest } of writes) {
          const one = { ...rest, messages: by === 'other' ? messages.map(toldElsewhere) : messages }
          write({ mirror: quick.mirror, source: quick[by] }, one)
          // A list of vanished messages makes all messages be placed, even if none of them exists.
          const all = { ...one, vanished: [...one.vanished, asMessageId('nobody')] }
          write({ mirror: slow.mirror, source: slow[by] }, all)
          expect(tellAll(quick.mirror)).toEqual(tellAll(slow.mirror))
        }
      } finally {
        opened.splice(0).forEach((place) => place.remove())
      }
    }),
    { numRuns: 60 },
  )
})
