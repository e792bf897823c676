import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeChat } from '../../src/archive/chat-file.ts'
import { decodeChat } from '../helpers/decode-chat.ts'
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

test('a written chat is read back, and written again it is the same text', () => {
  const text = textOf(chat, [message])
  const read = decodeChat(text)
  if (read.kind === 'damaged') throw new Error(read.why)
  expect(read.value).toEqual({ chat, messages: [message] })
  expect(textOf(read.value.chat, read.value.messages)).toBe(text)
})

test('every kind of part is read unchanged', () => {
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

test('a key such as __proto__ in a tool’s input is kept at any depth', () => {
  const input = '{"__proto__":{"a":1},"constructor":null,"b":[{"__proto__":"x","toString":2}]}'
  const part = `{"kind":"tool","name":"t","status":"completed","callId":null,"input":${input},"output":${input},"error":null,"paths":[]}`
  const text = textOf(chat, [{ ...message, parts: [] }]).replace('"parts":[]', () => `"parts":[${part}]`)
  const read = decodeChat(text)
  if (read.kind === 'damaged') throw new Error(read.why)
  expect(textOf(read.value.chat, read.value.messages)).toBe(text)
})

test('any order of keys and any length of ids and names survive reading and writing', () => {
  const long = '\u202e../'.repeat(4000)
  const parts =
    '[{"text":"b","kind":"text"},{"paths":[],"kind":"tool","output":1,"input":{},"name":"n","error":null,"callId":null,"status":"running"}]'
  const text = textOf({ ...chat, id: long, title: '' }, [{ ...message, id: '', parts: [] }])
  const turned = text.replace('"parts":[]', `"parts":${parts}`)
  const read = decodeChat(turned)
  if (read.kind === 'damaged') throw new Error(read.why)
  expect(textOf(read.value.chat, read.value.messages)).toBe(turned)
})

test('a time after the year 9999 is accepted', () => {
  const createdAt = new Date(8e15).toISOString()
  expect(whyOf(textOf({ ...chat, createdAt }, [message]))).toBe('sound')
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
  ['a version to come', textOf({ ...chat, version: 2 as never }, [message]), /line 1, version/],
])('%s is damaged, and says where', (_, text, why) => {
  expect(whyOf(text)).toMatch(why)
})

test('no text makes the reader throw', () => {
  const line = fc.oneof(fc.json(), fc.string(), fc.constant(JSON.stringify(chat)), fc.constant(JSON.stringify(message)))
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      expect(['sound', 'damaged']).toContain(decodeChat(lines.map((each) => `${each}\n`).join('')).kind)
    }),
  )
})
