import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonRecord } from '../../../src/indexer/sources/records/json.ts'
import {
  decodeModelThread,
  readResults,
  parseModelMessages,
  type DecodedThread,
} from '../../../src/indexer/sources/records/model-messages.ts'
import { unreadMessage } from '../../../src/indexer/sources/records/model-messages.ts'
import { asMessageId } from '../../../src/model/ids.ts'
import { user } from '../../helpers/eras/cli-store.ts'
import { casesBeside } from '../../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

/** Messages are named `0`, `1` and so on by their places, with the number of earlier occurrences of the key. */
const decode = (...messages: readonly unknown[]): DecodedThread =>
  decodeModelThread(
    messages.map((message, at) => ({ key: String(at), message: message as JsonRecord })),
    (key, occurrence) => asMessageId(`${key}-${occurrence}`),
  )
const partsOf = (...messages: readonly unknown[]): unknown[] =>
  decode(...messages).messages.flatMap(({ parts }) => parts as readonly unknown[])

describe('a blob', () => {
  test.each(cases<[string, string, unknown]>('payloads'))('of %s is read', (_, text, parsed) => {
    expect(parseModelMessages(Buffer.from(text))).toEqual(parsed)
  })
})

describe('a result', () => {
  const outputOf = (part: object, more: object = {}): unknown =>
    readResults({ role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c', ...part }], ...more })

  test.each(cases<[string, object, unknown, boolean]>('outputs'))('that is %s is read', (_, part, output, isError) => {
    expect(outputOf(part)).toMatchObject([{ callId: 'c', output, isError }])
  })

  test('is an error if its message says so', () => {
    const marked = { providerOptions: { cursor: { highLevelToolCallResult: { isError: true } } } }
    expect(outputOf({ result: 'no' }, marked)).toMatchObject([{ callId: 'c', output: 'no', isError: true }])
    const within = { providerOptions: { cursor: { highLevelToolCallResult: { output: { isError: true } } } } }
    expect(outputOf({ result: 'no' }, within)).toMatchObject([{ callId: 'c', output: 'no', isError: true }])
  })

  test('can be the whole message', () => {
    const message = { role: 'tool', toolCallId: 'c', content: 'done' }
    expect(readResults(message)).toMatchObject([{ callId: 'c', output: 'done', isError: false }])
  })

  test.each(['user', 'system', 'developer', undefined])('is ignored in a message of the role %s', (role) => {
    expect(readResults({ role, content: [{ type: 'tool-result', toolCallId: 'c', result: 'a' }] })).toEqual([])
  })
})

describe('a thread', () => {
  test('has a gap for an unreadable message', () => {
    const { messages, outline, issues } = decode(user('one'), unreadMessage, user('two'))
    expect(outline?.map(({ id, role }) => [id, role])).toEqual([
      ['0-0', 'user'],
      ['1-0', null],
      ['2-0', 'user'],
    ])
    expect([messages.length, issues]).toEqual([2, []])
  })

  test.each(cases<[string, unknown[], object]>('threads'))('%s', (_, messages, expected) => {
    expect(decode(...messages)).toMatchObject(expected)
  })
})

describe('parts', () => {
  test.each(cases<[string, object, string]>('of a prompt that are are read by their names'))(
    'of a prompt that are %s are read by their names',
    (_, part, path) => {
      expect(partsOf({ role: 'user', content: [part] })).toEqual([{ kind: 'attachment', path, text: null }])
    },
  )

  test.each(cases<[string, unknown, string | null]>('can be given'))('can be given as %s', (_, content, text) => {
    const expected = text === null ? [] : [{ kind: 'text', text }]
    expect(partsOf({ role: 'user', content })).toEqual(expected)
    expect(partsOf({ role: 'assistant', content })).toEqual(expected)
    expect(decode({ role: 'user', content }, { role: 'assistant', content }).issues).toEqual([])
  })
})

const kinds = ['text', 'reasoning', 'tool-call', 'tool-result', 'image', 'file', 'other']
const part = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.record(
    {
      type: fc.constantFrom(...kinds),
      text: fc.string({ unit: 'binary' }),
      toolCallId: fc.constantFrom('a', 'b'),
      toolName: fc.string(),
      args: fc.jsonValue(),
      result: fc.jsonValue(),
      output: fc.record({ type: fc.constantFrom('text', 'error-json'), value: fc.jsonValue() }),
      filename: fc.string(),
    },
    { requiredKeys: ['type'] },
  ),
)
const message = fc.record({
  role: fc.constantFrom('user', 'assistant', 'tool', 'system', 'other', 7),
  content: fc.oneof(fc.string(), fc.array(part, { maxLength: 4 }), fc.jsonValue()),
})

test('any messages become a thread that can be stored, in order, with distinct ids', () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 8 }), (messages) => {
      const decoded = decode(...messages)
      const places = decoded.outline?.map(({ id }) => id) ?? []
      const ids = decoded.messages.map(({ id }) => id)
      expect(new Set(places).size).toBe(places.length)
      expect(places.filter((id) => id !== null && ids.includes(id))).toEqual(ids)
      expect(decoded.messages.every(({ parts }) => parts.length > 0)).toBe(true)
      expect(JSON.stringify(decoded.messages).isWellFormed()).toBe(true)
    }),
    { numRuns: 1000 },
  )
})
