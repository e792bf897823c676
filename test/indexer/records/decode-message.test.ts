import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { decodeMessageRow } from '../../../src/indexer/sources/records/message/decode-message.ts'
import { bytes, decodeBubble, halfCharacter, halvedJson, identity, messageOf, partsOf } from './rows.ts'
import { casesBeside } from '../../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

describe('a row that is no message', () => {
  test.each(cases<[string, string, Record<string, unknown>]>('a row that is no message'))(
    '%s is reported with its reason',
    (_, text, expected) => {
      expect(decodeMessageRow(Buffer.from(text), identity, 1)).toEqual(expected)
    },
  )
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
  test.each(cases<[string, unknown, number | null]>('times'))('%s', (_, createdAt, sentAtMs) => {
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
