import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { decodeChatRow } from '../../../src/indexer/sources/records/chat/decode-chat.ts'
import { bytes, chatId, chatOf, halfCharacter, halvedJson, makeId } from './rows.ts'
import { noFacts } from '../../helpers/mirror-writes.ts'
import { casesBeside } from '../../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

const atMs = Date.UTC(2026, 0, 2, 3, 4, 5, 6)

test.each([
  ['{"name":', { kind: 'issue', reason: 'bad-json' }],
  ['[]', { kind: 'issue', reason: 'not-an-object' }],
  ['0', { kind: 'issue', reason: 'not-an-object' }],
])('a chat row %j is an issue', (text, expected) => {
  expect(decodeChatRow(Buffer.from(text), chatId, makeId)).toEqual(expected)
})

it('an empty chat row is a chat without facts', () => {
  expect(chatOf({})).toEqual({
    kind: 'chat',
    facts: { ...noFacts, branch: null },
    outline: null,
    embedded: [],
    placeholders: new Map(),
    toolData: new Map(),
    evidence: [],
    paths: [],
    namesCopy: false,
    issue: null,
  })
})

describe('facts', () => {
  test.each(cases<[string, Record<string, unknown>, Record<string, unknown>]>('facts'))('%s', (_, fields, expected) => {
    expect(chatOf(fields).facts).toMatchObject(expected)
  })

  it('recognises drafts and subagents by their ids too', () => {
    expect(chatOf({}, 'empty-state-draft').facts.isDraft).toBe(true)
    expect(chatOf({}, 'task-call_1\nfc_2').facts.isSubagent).toBe(true)
  })

  it('never shows the unsent draft, a key or a signature', () => {
    const secret = 'CANARY'
    const row = {
      text: secret,
      richText: JSON.stringify({ root: { children: [{ text: secret }] } }),
      context: { fileSelections: [{ uri: `/${secret}` }], selections: [{ text: secret }] },
      speculativeSummarizationEncryptionKey: secret,
      blobEncryptionKey: secret,
      conversation: [{ bubbleId: 'a', text: 'said', thinking: { text: 't', signature: secret } }],
    }
    const { paths, ...chat } = chatOf(row)
    expect(JSON.stringify({ ...chat, toolData: [...chat.toolData] })).not.toContain(secret)
    expect(chat.embedded).toHaveLength(1)
    // The paths of the draft's files help to find the chat's project, and are used for nothing else.
    expect(paths).toEqual([`file:///${secret}`])
  })
})

describe('order', () => {
  it('comes from the headers, and those without an id keep their places', () => {
    const headers = [
      { bubbleId: 'a', type: 1, createdAt: new Date(atMs).toISOString() },
      { bubbleId: 'b', type: 2, startedAtMs: atMs + 1.5 },
      { bubbleId: 'c', type: 7, completedAtMs: atMs + 2 },
      { bubbleId: '' },
      { bubbleId: '', type: 2, createdAt: atMs + 3 },
      { type: 1 },
      null,
    ]
    expect(chatOf({ fullConversationHeadersOnly: headers, conversationMap: {} })).toMatchObject({
      facts: { format: 'split' },
      outline: [
        { id: 'a', role: 'user', createdAtMs: atMs, startedAtMs: null },
        { id: 'b', role: 'assistant', createdAtMs: atMs + 1, startedAtMs: atMs + 1 },
        { id: 'c', role: null, createdAtMs: atMs + 2, startedAtMs: null },
        { id: '', role: null, createdAtMs: null, startedAtMs: null },
        { id: '', role: 'assistant', createdAtMs: atMs + 3, startedAtMs: null },
        { id: null, role: 'user', createdAtMs: null, startedAtMs: null },
        { id: null, role: null, createdAtMs: null, startedAtMs: null },
      ],
    })
  })

  it('comes from the messages in the row, and empty ones leave a gap', () => {
    const conversation = [
      { bubbleId: 'a', type: 1, text: 'one' },
      { type: 2, text: 'two' },
      { bubbleId: '', type: 2, text: 'three' },
      { bubbleId: 'a', type: 2, text: 'four' },
      { bubbleId: 'e', type: 2, text: '' },
      'junk',
    ]
    const chat = chatOf({ fullConversationHeadersOnly: [], conversation })
    expect(chat.facts.format).toBe('inline')
    expect(chat.outline?.map((entry) => entry.id)).toEqual(['a', 'made-1', 'made-2', 'made-3', 'e', 'made-5'])
    expect(chat.embedded.map((message) => [message.id, message.parts])).toEqual(
      [
        ['a', 'one'],
        ['made-1', 'two'],
        ['made-2', 'three'],
        ['made-3', 'four'],
      ].map(([id, text]) => [id, [{ kind: 'text', text }]]),
    )
    expect(chat.embedded.every((message) => message.isEmbedded && message.octets === 0)).toBe(true)
  })

  it('is left to the times if there is only a map', () => {
    const chat = chatOf({
      conversationMap: { a: { type: 1, text: 'x', bubbleId: 'other' }, '': { text: 'y' }, c: null },
    })
    expect(chat).toMatchObject({ facts: { format: 'map' }, outline: null })
    expect(chat.embedded.map((message) => [message.id, message.alias])).toEqual([
      ['a', 'other'],
      ['made-1', null],
    ])
  })

  it('comes from the headers if the row has bodies as well', () => {
    const chat = chatOf({
      fullConversationHeadersOnly: [{ bubbleId: 'b' }, { bubbleId: 'a' }],
      conversation: [{ bubbleId: 'a', text: 'from list' }],
      conversationMap: { a: { text: 'from map' }, b: { text: 'only in map' } },
    })
    expect(chat.facts.format).toBe('map')
    expect(chat.outline?.map((entry) => entry.id)).toEqual(['b', 'a'])
    expect(chat.embedded.map((message) => message.parts)).toEqual([
      [{ kind: 'text', text: 'from list' }],
      [{ kind: 'text', text: 'only in map' }],
    ])
  })
})

describe('tool data in the chat row', () => {
  const call = { name: 'read_file', params: '{"path":"/a"}' }
  test.each([
    ['an object', { a: call }],
    ['a JSON string', JSON.stringify({ a: call })],
  ])('%s reaches the message', (_, bubbleDataMap) => {
    const chat = chatOf({
      capabilities: [
        { type: 30, data: { bubbleDataMap: { a: 'not this' } } },
        { type: 15, data: { bubbleDataMap } },
        null,
      ],
      conversation: [{ bubbleId: 'a', type: 2 }],
    })
    expect([...chat.toolData]).toEqual([['a', call]])
    expect(chat.embedded).toMatchObject([{ id: 'a', parts: [{ kind: 'tool', name: 'read_file', paths: ['/a'] }] }])
  })
})

test.each(cases<[unknown, string | null]>('evidence of a workspace URI'))(
  'workspace URI %j is evidence of %j',
  (uri, expected) => {
    const evidence = expected === null ? [] : [{ method: 'workspace-identifier', uri: expected }]
    expect(chatOf({ workspaceIdentifier: { id: 'w', uri } }).evidence).toEqual(evidence)
  },
)

it('reports a tool value that is nested too deep, and keeps the chat', () => {
  const params = '['.repeat(600) + ']'.repeat(600)
  const chat = chatOf({
    name: 'n',
    conversation: [{ bubbleId: 'a', toolFormerData: { name: 'any', params } }, { text: 'b' }],
  })
  expect(chat).toMatchObject({ issue: 'too-deep', facts: { name: 'n' } })
  expect(chat.embedded).toHaveLength(2)
})

const known = [
  'name',
  'conversation',
  'conversationMap',
  'fullConversationHeadersOnly',
  'capabilities',
  'usageData',
  'workspaceIdentifier',
  'latestConversationSummary',
  'todos',
  'subagentInfo',
  'subagentComposerIds',
  'createdAt',
  'status',
  'modelConfig',
  '__proto__',
]

describe('decoding is total', () => {
  it('any bytes become something that can be stored', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (raw) => {
        expect(typeof JSON.stringify(decodeChatRow(Buffer.from(raw), chatId, makeId))).toBe('string')
      }),
    )
  })
  it('any JSON in any known field becomes a chat with valid text and distinct embedded ids', () => {
    const element = fc.oneof(
      halvedJson,
      fc.record({ bubbleId: fc.constantFrom('a', 'b', ''), text: fc.constantFrom('t', '') }),
    )
    const row = fc.dictionary(
      fc.constantFrom(...known),
      fc.oneof(halvedJson, fc.array(element), fc.dictionary(fc.constantFrom('a', 'b', ''), element)),
    )
    fc.assert(
      fc.property(row, (composer) => {
        const decoded = decodeChatRow(bytes(composer), chatId, makeId)
        expect(JSON.stringify(decoded)).not.toMatch(halfCharacter)
        const ids = decoded.kind === 'chat' ? decoded.embedded.map((message) => message.id) : []
        expect(new Set(ids).size).toBe(ids.length)
      }),
    )
  })
})
