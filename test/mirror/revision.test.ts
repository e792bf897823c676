import { afterEach, beforeEach, expect, test } from 'vitest'
import { emptyBatch, type Batch, type ChatFacts, type ChatWrite, type OwnRow } from '../../src/mirror/write/batch.ts'
import { placeByPaths } from '../../src/mirror/write/chats/chat-paths.ts'
import { packMessage } from '../../src/mirror/write/messages/pack-message.ts'
import { writeBatch } from '../../src/mirror/write/write-batch.ts'
import { asChatId, asMessageId } from '../../src/model/ids.ts'
import { draftOf, noFacts } from '../helpers/mirror-writes.ts'
import { OpenMirror } from '../helpers/open-mirror.ts'

let opened: OpenMirror
let source: number

beforeEach(() => {
  opened = new OpenMirror()
  source = opened.source('composer-kv')
})
afterEach(() => opened.remove())

const T0 = 1_760_000_000_000
const A = asChatId('a')

const row = (facts: Partial<ChatFacts> = {}, ids = ['m1', 'm2']): OwnRow => ({
  kind: 'read',
  facts: { ...noFacts, name: 'A', createdAtMs: T0, ...facts },
  outline: ids.map((id) => ({ id: asMessageId(id), role: null, createdAtMs: null, startedAtMs: null })),
  embeddedIds: new Set(),
  octets: 10,
})

const text = (id: string, words: string, atMs = T0) => packMessage(draftOf(id, words, { sentAtMs: atMs, octets: 5 }))
const both = [text('m1', 'one'), text('m2', 'two', T0 + 9)]
const chat = (write: Partial<ChatWrite>): ChatWrite => ({ id: A, ownRow: row(), messages: [], vanished: [], ...write })
const root = (name: string) => ({ uri: `file:///${name}`, path: `/${name}`, name, remote: null })

const write = (batch: Partial<Batch>) => writeBatch(opened.db, { ...emptyBatch, source, nowMs: T0, ...batch })

const revision = (): number =>
  opened.db.prepare<[], number>(`select revision from chats where id = 'a'`).pluck().get() ?? -1

const head = { chatId: A, list: 'l', name: null, createdAtMs: null, updatedAtMs: null, mode: null, branch: null }
const silent = { isArchived: null, isDraft: null, isSubagent: null, parentChatId: null }
const counts = { linesAdded: null, linesRemoved: null, filesChanged: null }
const evidence = { chatId: A, method: 'workspace', rank: 10, root: root('shop'), isOnly: false }

/** All of these must count: an archive treats a chat with the same revision as unchanged. */
test.each<[what: string, act: () => void]>([
  ['a message with other words of the same length', () => write({ chats: [chat({ messages: [text('m1', 'eno')] })] })],
  ['a message whose row is gone', () => write({ chats: [chat({ vanished: [asMessageId('m2')] })] })],
  ['two messages in another order', () => write({ chats: [chat({ ownRow: row({}, ['m2', 'm1']) })] })],
  [
    'an order that names a message without a row',
    () => write({ chats: [chat({ ownRow: row({}, ['m1', 'm2', 'm3']) })] }),
  ],
  ['a message that the chat no longer names', () => write({ chats: [chat({ ownRow: row({}, ['m1']) })] })],
  [
    'the deletion of the chat',
    () => write({ chats: [chat({ ownRow: { kind: 'gone' }, vanished: [asMessageId('m1'), asMessageId('m2')] })] }),
  ],
  ['another subagent', () => write({ chats: [chat({ ownRow: row({ childChatIds: [asChatId('b')] }) })] })],
  ['other metadata in a list', () => write({ heads: [{ ...head, ...silent, ...counts, mode: 'agent' }] })],
  ['evidence for a project', () => write({ evidence: [evidence] })],
  [
    'weaker evidence, which moves nothing',
    () => {
      write({ evidence: [evidence] })
      const before = revision()
      write({ evidence: [{ ...evidence, method: 'files', rank: 80, root: root('tool') }] })
      expect(revision()).toBeGreaterThan(before)
    },
  ],
  ['the files of the chat', () => write({ paths: [{ chatId: A, uris: ['file:///shop/a.ts'] }] })],
  [
    'a project found by the files',
    () => {
      write({ paths: [{ chatId: A, uris: ['file:///shop/a.ts'] }], workspaces: [{ id: 'w', root: root('shop') }] })
      const before = revision()
      expect(placeByPaths(opened.db, new Set([A]))).toEqual([A])
      expect(revision()).toBeGreaterThan(before)
    },
  ],
])('%s increases the revision of its chat', (_, act) => {
  write({ chats: [chat({ messages: both })] })
  const before = revision()
  act()
  expect(revision()).toBeGreaterThan(before)
})

test('a resolved pending reference increases the revision of its chat', () => {
  const draft = draftOf('m1', 'see', { sentAtMs: T0, asks: [{ kind: 'content', name: 'aa', path: '/a' }] })
  write({ chats: [chat({ messages: [packMessage(draft)] })] })
  const before = revision()
  const ask = opened.db.prepare<[], number>('select num from asks').pluck().get() ?? 0
  write({ answers: [{ ask, value: 'what was kept apart', cappedFrom: null }] })
  expect(revision()).toBeGreaterThan(before)
})

test('writing the same data again does not change the revision', () => {
  const all = {
    chats: [chat({ messages: both, ownRow: row({ childChatIds: [asChatId('b')] }) })],
    evidence: [evidence],
    paths: [{ chatId: A, uris: ['file:///shop/b.ts', 'file:///shop/a.ts'] }],
    heads: [{ ...head, ...silent, ...counts }],
  }
  write(all)
  const before = revision()
  write(all)
  expect(revision()).toBe(before)
})
