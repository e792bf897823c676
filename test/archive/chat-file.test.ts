import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeChat, encodeChat } from '../../src/archive/chat-file.ts'
import type { ArchivedChat, ArchivedMessage } from '../../src/archive/record.ts'

const chat: ArchivedChat = {
  format: 'cursordex-chat',
  version: 1,
  id: 'one\u2028',
  title: 'A plum tree',
  origin: 'a mirror',
  source: 'composer-kv',
  storeFormat: 'split',
  name: 'A plum tree',
  summary: null,
  todos: [],
  createdAt: '2026-02-01T10:00:00.000Z',
  updatedAt: null,
  mode: 'agent',
  branch: null,
  model: null,
  status: null,
  isArchived: false,
  isDraft: false,
  isSubagent: false,
  deletedAt: null,
  parentChatId: null,
  childChatIds: [],
  linesAdded: 0,
  linesRemoved: null,
  filesChanged: null,
  contextTokens: { used: 12.5, limit: null },
  recordedCostCents: 0.25,
  octets: 400,
  evidence: [{ method: 'workspace', rank: 10, root: { uri: 'file:///a', path: '/a', name: 'a', remote: null } }],
  paths: [],
  outline: [{ id: 'm1', role: 'user', createdAt: null, startedAt: null }],
  messageCount: 1,
}

const message: ArchivedMessage = {
  id: 'm1',
  alias: null,
  position: 0,
  role: 'user',
  sentAt: '2026-02-01T10:00:00.123Z',
  startedAt: null,
  timingAt: null,
  model: null,
  tokens: { input: 3, output: 0 },
  isSimulated: false,
  isOrphan: false,
  deletedAt: null,
  source: 'composer-kv',
  octets: 200,
  parts: [{ kind: 'text', text: 'Prune it?\n\ud800' }],
}

const textOf = (head: ArchivedChat, messages: readonly ArchivedMessage[]): string =>
  [...encodeChat(head, messages)].join('')

const whyOf = (text: string): string => {
  const read = decodeChat(text)
  return read.kind === 'damaged' ? read.why : 'sound'
}

test('what is written is read again, and written again it is the same text', () => {
  const text = textOf(chat, [message])
  const read = decodeChat(text)
  if (read.kind === 'damaged') throw new Error(read.why)
  expect(read.value).toEqual({ chat, messages: [message] })
  expect(textOf(read.value.chat, read.value.messages)).toBe(text)
})

test('every kind of part is taken in as it stands', () => {
  const parts: ArchivedMessage['parts'] = [
    { kind: 'thinking', text: 'hm', durationMs: null },
    { kind: 'code', language: 'ts', path: null, text: 'a()' },
    {
      kind: 'tool',
      name: 'grep',
      status: 'error',
      callId: null,
      input: { b: 1, a: [null, true] },
      output: 'x',
      outputFrom: 'blob',
      error: 'no',
      paths: ['/a'],
    },
    { kind: 'attachment', path: '/a', text: null, hash: 'abc', cappedFrom: 3 },
    { kind: 'todo', items: [{ id: null, content: 'c', status: null }] },
    { kind: 'error', text: 'e' },
  ]
  const text = textOf(chat, [{ ...message, parts }])
  const read = decodeChat(text)
  expect(read).toMatchObject({ kind: 'sound', value: { messages: [{ parts }] } })
})

test.each<[claim: string, text: string, why: RegExp]>([
  ['nothing', '', /cut off/],
  ['a last line that is cut off', textOf(chat, [message]).slice(0, -1), /cut off/],
  ['a line that is no JSON', `${textOf(chat, [message])}{\n`, /line 3 is not JSON/],
  ['a message too few', textOf(chat, []), /0 messages, not 1/],
  ['a message twice', textOf({ ...chat, messageCount: 2 }, [message, message]), /one id/],
  ['a field too many', textOf({ ...chat, more: 1 } as never, [message]), /line 1/],
  ['a time that is none', textOf({ ...chat, createdAt: 'yesterday' }, [message]), /line 1, createdAt/],
  ['a position below 0', textOf(chat, [{ ...message, position: -1 }]), /line 2, position/],
  ['an id without end', textOf({ ...chat, id: 'x'.repeat(5000) }, [message]), /line 1, id/],
  ['a version to come', textOf({ ...chat, version: 2 as never }, [message]), /line 1, version/],
])('%s is damaged, and says where', (_, text, why) => {
  expect(whyOf(text)).toMatch(why)
})

test('no text makes it throw', () => {
  const line = fc.oneof(fc.json(), fc.string(), fc.constant(JSON.stringify(chat)), fc.constant(JSON.stringify(message)))
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      expect(['sound', 'damaged']).toContain(decodeChat(lines.map((each) => `${each}\n`).join('')).kind)
    }),
  )
})
