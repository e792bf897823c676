import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeTranscript } from '../../../src/indexer/sources/transcripts/read.ts'
import type { DecodedTranscript } from '../../../src/indexer/sources/transcripts/transcript.ts'
import { asChatId, asMessageId } from '../../../src/model/ids.ts'
import type { Part } from '../../../src/model/part.ts'
import { casesBeside, readJson, writtenOut } from '../../helpers/cases.ts'
import { startCpuClock } from '../../helpers/cpu-time.ts'
import { line, lines, query, said } from '../../helpers/eras/transcripts.ts'

const cases = casesBeside(import.meta.url)

/** Messages are named by their places. */
const decode = (content: string | Buffer): DecodedTranscript =>
  decodeTranscript(Buffer.from(content), asChatId('chat'), (_, ordinal) => asMessageId(String(ordinal)))

/** A part as the tables write it: a text alone, and of a call what is not as usual. */
function shortOf(part: Part): unknown {
  if (part.kind === 'text') return part.text
  if (part.kind !== 'tool') return { [part.kind]: part.kind === 'attachment' ? part.path : 'text' in part && part.text }
  const { kind: _, name, ...told } = part
  const usual: Record<string, unknown> = {
    status: 'completed',
    callId: null,
    input: null,
    output: null,
    error: null,
    paths: [],
  }
  const special = Object.entries(told).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(usual[key]))
  return { tool: name, ...Object.fromEntries(special) }
}

const messagesOf = (content: string | Buffer): readonly unknown[] =>
  decode(content).messages.map(({ role, parts }) => [role, ...parts.map(shortOf)])

interface File {
  readonly name: string
  /** Text, or the records of its lines. */
  readonly content?: string | readonly unknown[]
  /** What one JSON list has. */
  readonly list?: readonly unknown[]
  /** Role and parts of each message. */
  readonly messages?: readonly unknown[]
  readonly ids?: readonly number[]
  /** How many places the thread has, with gaps. */
  readonly places?: number
  readonly issue?: string | null
}

const contentOf = ({ content = [], list }: File): string => {
  if (list !== undefined) return JSON.stringify(list, null, 2)
  return typeof content === 'string' ? content : lines(...content)
}

test.each(writtenOut(cases<File>('files')))('$name', (file) => {
  const { messages, ids, places, issue = null } = file
  const content = contentOf(file)
  const decoded = decode(content)
  expect(messagesOf(content)).toEqual(messages ?? messagesOf(content))
  expect(decoded.issue).toBe(issue)
  const found = decoded.messages.map(({ id }) => Number(id))
  expect([found, decoded.outline?.length]).toEqual([ids ?? found, places ?? decoded.outline?.length])
})

test.each(cases<[string, string[], unknown[]]>('an answer contains'))('an answer contains %s', (_, words, parts) => {
  expect(messagesOf(['assistant:', ...words, '', ''].join('\n'))).toEqual([['assistant', ...parts]])
})

test.each(cases<[string, unknown, unknown[]]>('the message is found'))(
  'the message is found %s',
  (_, record, message) => {
    expect(messagesOf(lines(record))).toEqual([message])
  },
)

test.each(cases<[string, unknown[], string[]]>('the status of a call'))('a call %s', (_, records, statuses) => {
  const parts = decode(lines(...records)).messages.flatMap((message) => message.parts)
  expect(parts.flatMap((part) => (part.kind === 'tool' ? [part.status] : []))).toEqual(statuses)
})

const prompt = (text: string) => ({ role: 'user', text: query(text) })

test.each(writtenOut(cases<[string, unknown[], string]>('entries that cannot be read')))(
  'an entry of a list with %s is one issue, and the other entries are read',
  (_, entries, issue) => {
    const { messages, issue: found } = decode(JSON.stringify([prompt('a'), ...entries, prompt('b')]))
    const texts = messages.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])))
    expect([found, texts]).toEqual([issue, ['a', 'b']])
  },
)

test('no id, time, model or token is made up', () => {
  const unknown = { alias: null, sentAtMs: null, startedAtMs: null, timingAtMs: null, model: null, tokens: null }
  expect(decode(lines(line('user', said('a')))).messages).toMatchObject([{ id: '0', role: 'user', ...unknown }])
})

test('broken bytes and half characters are replaced', () => {
  const [before, after] = ['{"role":"user","content":"a', '\\ud800"}\n'].map((text) => Buffer.from(text))
  expect(messagesOf(Buffer.concat([before ?? '', Buffer.from([0xff]), after ?? ''] as Buffer[]))).toEqual([
    ['user', 'a\uFFFD\uFFFD'],
  ])
})

test('an answer of very many parts is read', () => {
  const parts = decode(`assistant:\n${'<think>a</think>b'.repeat(200_000)}\n`).messages[0]?.parts
  expect(parts).toHaveLength(400_000)
})

/** Pieces of all formats, complete and torn, so that each decoder meets the others' input. */
const scraps = readJson(import.meta.url, 'scraps.json') as readonly string[]
const anyEntry = fc.record(
  {
    role: fc.oneof(fc.constantFrom('user', 'assistant', 'tool'), fc.jsonValue()),
    text: fc.oneof(fc.constantFrom(...scraps), fc.jsonValue()),
    toolCalls: fc.oneof(
      fc.array(fc.record({ toolName: fc.constantFrom('T', 7), args: fc.jsonValue() })),
      fc.jsonValue(),
    ),
    toolResult: fc.oneof(fc.record({ toolName: fc.constant('T'), result: fc.jsonValue() }), fc.jsonValue()),
  },
  { requiredKeys: [] },
)
const anyBytes = fc.oneof(
  fc.array(anyEntry, { maxLength: 8 }).map((entries) => Buffer.from(JSON.stringify(entries))),
  fc.uint8Array({ maxLength: 500 }).map((array) => Buffer.from(array)),
  fc.array(fc.constantFrom(...scraps), { maxLength: 30 }).map((parts) => Buffer.from(parts.join(''))),
  fc.json({ maxDepth: 4 }).map((json) => Buffer.from(`{"role":"assistant","message":{"content":[${json}]}}\n`)),
)

test('any bytes are decoded to messages with content, each with one id and place', () => {
  fc.assert(
    fc.property(anyBytes, (content) => {
      const { messages, outline } = decode(content)
      const ids = messages.map(({ id }) => id)
      const places = outline?.map(({ id }) => id) ?? []
      expect(new Set(places).size).toBe(places.length)
      expect(places.filter((id) => id !== null && ids.includes(id))).toEqual(ids)
      expect(messages.every(({ parts }) => parts.length > 0)).toBe(true)
      const kept = JSON.stringify(messages)
      expect(kept.isWellFormed()).toBe(true)
      expect(JSON.stringify(decode(content).messages)).toBe(kept)
    }),
    { numRuns: 1000 },
  )
})

test('an entry of any form does not affect other entries', () => {
  fc.assert(
    fc.property(anyEntry, (entry) => {
      const { messages } = decode(JSON.stringify([prompt('a'), entry, prompt('b')]))
      expect(messages.at(0)?.parts).toEqual([{ kind: 'text', text: 'a' }])
      expect(messages.at(-1)?.parts).toEqual([{ kind: 'text', text: 'b' }])
    }),
  )
})

test('a truncated file gives the same messages up to its end', () => {
  const told = (words: string) => `${JSON.stringify({ role: 'assistant', message: { content: words } })}\n`
  const whole = ['one', 'two', 'three\n{"', 'vier \u{1f600}'].map(told).join('')
  const all = decode(whole).messages.map(({ parts }) => parts)
  for (let length = 0; length <= Buffer.byteLength(whole); length += 1) {
    const { messages, issue } = decode(Buffer.from(whole).subarray(0, length))
    const expected = messages.length === 0 ? 'null-value' : null
    expect([issue, messages.map(({ parts }) => parts)]).toEqual([expected, all.slice(0, messages.length)])
  }
})

test.each([...scraps.filter((scrap) => scrap.length < 30), '\nuser:\n<user_query>\n', 'a <think>\n', '` ', '\n'])(
  'decoding a large file of nothing but %j takes linear time',
  (unit) => {
    const cpuMs = startCpuClock()
    decode(`assistant:\n${unit.repeat(20_000)}`)
    expect(cpuMs()).toBeLessThan(8000)
  },
)
