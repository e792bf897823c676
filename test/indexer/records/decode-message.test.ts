import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { decodeMessageRow } from '../../../src/indexer/sources/records/message/decode-message.ts'
import { bytes, decodeBubble, halfCharacter, halvedJson, identity, messageOf, partsOf } from './rows.ts'

describe('a row that is no message', () => {
  test.each([
    ['torn JSON', '{"text":"half', { kind: 'issue', reason: 'bad-json' }],
    ['no bytes', '', { kind: 'issue', reason: 'bad-json' }],
    ['null', 'null', { kind: 'issue', reason: 'not-an-object' }],
    ['a list', '[{"text":"a"}]', { kind: 'issue', reason: 'not-an-object' }],
    ['a string', '"text"', { kind: 'issue', reason: 'not-an-object' }],
    ['an object without anything', '{}', { kind: 'nothing', issue: null }],
    ['a placeholder', '{"type":2,"capabilityType":30,"text":"","codeBlocks":[]}', { kind: 'nothing', issue: null }],
    ['only white space', '{"type":1,"text":" \\n\\t"}', { kind: 'nothing', issue: null }],
    [
      'a status alone',
      '{"type":1,"toolFormerData":{"additionalData":{"status":"error"}}}',
      { kind: 'nothing', issue: null },
    ],
  ])('%s is reported with its reason', (_, text, expected) => {
    expect(decodeMessageRow(Buffer.from(text), identity, 1)).toEqual(expected)
  })
})

describe('role', () => {
  test.each([
    [1, 'user'],
    [2, 'assistant'],
    [99, 'assistant'],
    [undefined, 'assistant'],
    ['user', 'user'],
    ['ai', 'assistant'],
    [{}, 'assistant'],
  ])('type %j is the %s', (type, role) => {
    expect(messageOf({ type, text: 'a' }).role).toBe(role)
  })
})

it('takes the ids from the key and keeps a different id in the row as an alias', () => {
  expect(messageOf({ bubbleId: 'other', text: 'a' })).toMatchObject({ id: 'message-1', alias: 'other', octets: 77 })
  expect(messageOf({ bubbleId: 'message-1', text: 'a' }).alias).toBeNull()
  expect(messageOf({ bubbleId: '', text: 'a' }).alias).toBe('')
  expect(messageOf({ text: 'a' }).alias).toBeNull()
})

describe('times', () => {
  const atMs = Date.UTC(2026, 1, 3, 4, 5, 6, 789)
  test.each<[string, unknown, number | null]>([
    ['ISO with Z', '2026-02-03T04:05:06.789Z', atMs],
    ['ISO without a zone is UTC', '2026-02-03T04:05:06.789', atMs],
    ['a blank between date and time', '2026-02-03 04:05:06.789123', atMs],
    ['an offset', '2026-02-03T05:05:06.789+01:00', atMs],
    ['a bare date', '2026-02-03', Date.UTC(2026, 1, 3)],
    ['milliseconds', atMs, atMs],
    ['a fraction is cut', atMs + 0.9, atMs],
    ['digits in a string', String(atMs), atMs],
    ['seconds are no time', Math.floor(atMs / 1000), null],
    ['too late is no time', 4.2e12, null],
    ['words are no time', 'yesterday', null],
    ['an object is no time', {}, null],
  ])('%s', (_, createdAt, sentAtMs) => {
    expect(messageOf({ text: 'a', createdAt }).sentAtMs).toBe(sentAtMs)
  })

  it('falls back to the start time, and to the timestamp only without a usable timing', () => {
    expect(messageOf({ text: 'a', startedAtMs: atMs + 0.5 })).toMatchObject({ sentAtMs: atMs, startedAtMs: atMs })
    expect(messageOf({ text: 'a', timestamp: atMs, timingInfo: { clientStartTime: 4745281.3 } })).toMatchObject({
      sentAtMs: atMs,
      timingAtMs: null,
    })
    expect(
      messageOf({ text: 'a', timestamp: atMs, timingInfo: { clientStartTime: 1.5, clientRpcSendTime: atMs } }),
    ).toMatchObject({ sentAtMs: null, timingAtMs: atMs })
  })
})

describe('model and tokens', () => {
  test.each<[Record<string, unknown>, string | null]>([
    [{ modelInfo: { modelName: 'claude-4.5-sonnet' } }, 'claude-4.5-sonnet'],
    [{ modelInfo: { modelName: 'Default' } }, null],
    [{ modelInfo: { modelName: 'auto' }, modelType: 'gpt-4' }, 'gpt-4'],
    [{ modelInfo: { modelName: ' ' } }, null],
    [{}, null],
  ])('%j names %j', (fields, model) => {
    expect(messageOf({ text: 'a', ...fields }).model).toBe(model)
  })

  test.each<[unknown, unknown]>([
    [
      { inputTokens: 4469, outputTokens: 1407 },
      { input: 4469, output: 1407 },
    ],
    [
      { inputTokens: 3.7, outputTokens: 'x' },
      { input: 3, output: null },
    ],
    [{ inputTokens: -4, outputTokens: 1e300 }, null],
    [{ inputTokens: 0, outputTokens: 0 }, null],
    [undefined, null],
  ])('token count %j is %j', (tokenCount, tokens) => {
    expect(messageOf({ text: 'a', tokenCount }).tokens).toEqual(tokens)
  })
})

it('marks what Cursor sent in the user’s name', () => {
  expect(messageOf({ type: 1, text: 'a', isSimulatedMsg: true }).isSimulated).toBe(true)
  expect(messageOf({ type: 1, text: 'a', isSimulatedMsg: 'no' }).isSimulated).toBe(false)
})

const known = [
  'text',
  'richText',
  'content',
  'thinking',
  'allThinkingBlocks',
  'codeBlocks',
  'toolFormerData',
  'context',
  'fileSelections',
  'attachedCodeChunks',
  'images',
  'todos',
  'errorDetails',
  'createdAt',
  'timingInfo',
  'tokenCount',
  'modelInfo',
  '__proto__',
]

describe('decoding is total', () => {
  it('any bytes become something that can be stored', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (raw) => {
        expect(typeof JSON.stringify(decodeMessageRow(Buffer.from(raw), identity, raw.length))).toBe('string')
      }),
    )
  })
  it('any JSON in any known field becomes something that can be stored, with valid text', () => {
    const row = fc.dictionary(fc.constantFrom(...known), halvedJson)
    fc.assert(
      fc.property(row, halvedJson, (bubble, toolData) => {
        expect(JSON.stringify(decodeBubble(bubble, toolData))).not.toMatch(halfCharacter)
      }),
    )
  })
  it('any text stays unchanged', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => /\S/u.test(text)),
        (text) => {
          expect(partsOf({ type: 1, text })).toEqual([{ kind: 'text', text }])
        },
      ),
    )
  })
  it('a row with an unknown field nested a hundred thousand levels deep is still read', () => {
    const row = `{"text":"a","x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    expect(decodeMessageRow(Buffer.from(row), identity, 1)).toMatchObject({ kind: 'message', issue: null })
  })
  it('a key named __proto__ has no effect', () => {
    const row = Buffer.from('{"__proto__":{"text":"p"},"type":1,"codeBlocks":[]}')
    expect(decodeMessageRow(row, identity, 1)).toEqual({ kind: 'nothing', issue: null })
    expect(bytes({}).toString()).toBe('{}')
  })
})

it('a row with text in an unknown field is an issue, a placeholder is not', () => {
  const renamed = decodeBubble({ type: 2, body: 'what used to be the text of this message' })
  expect(renamed).toEqual({ kind: 'issue', reason: 'unknown-shape' })
  const placeholder = decodeBubble({
    type: 2,
    text: '',
    requestId: '0e5b6b51-9d0a-4d8e-8c6e-3d1f0a9b2c47',
    capabilityType: 22,
  })
  expect(placeholder.kind).toBe('nothing')
})
