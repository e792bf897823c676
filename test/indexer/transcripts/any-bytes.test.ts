import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { decode } from './decoded.ts'
import { startCpuClock } from '../../helpers/cpu-time.ts'

/** Pieces of all formats, complete and torn, so that each decoder meets the others' input. */
const scraps = [
  'user:\n',
  'assistant:\n',
  '\nuser:\n',
  '\nassistant:\n',
  '<external_links>',
  '<think>',
  '</think>',
  '`',
  '[Tool call] T*** Begin Patch\n',
  'a=b\n',
  '[{"role":"user","text":"a"},',
  '{"role":"tool","toolResult":{"toolName":"T"}}]',
  '<user_query>\n',
  '</user_query>',
  '<timestamp>',
  '</timestamp>',
  '<attached_files>',
  '[Image]',
  '[Thinking] a',
  '[Tool call] T\n',
  '[Tool result] T\n',
  '  a=b\n',
  '```\n',
  '{"role":"user","message":{"content":"a"}}\n',
  '{"role":"assistant","message":{"content":[{"type":"tool_use","input":{"a":[null,1e999]}}]}}\n',
  '{"role":"assistant","message":{"content":[7,null,[],{"type":"text","text":"\\ud800"}]}}\n',
  '{"type":"turn_ended","status":"aborted"}\n',
  '{"type":"error","error":[]}\n',
  '{"role":',
  'null\n',
  '\r\n',
  ' ',
  '\uFEFF',
]
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
const bytes = fc.oneof(
  fc.array(anyEntry, { maxLength: 8 }).map((entries) => Buffer.from(JSON.stringify(entries))),
  fc.uint8Array({ maxLength: 500 }).map((array) => Buffer.from(array)),
  fc.array(fc.constantFrom(...scraps), { maxLength: 30 }).map((parts) => Buffer.from(parts.join(''))),
  fc.json({ maxDepth: 4 }).map((json) => Buffer.from(`{"role":"assistant","message":{"content":[${json}]}}\n`)),
)

test('any bytes are decoded to messages with content, each with one id and place', () => {
  fc.assert(
    fc.property(bytes, (content) => {
      const { messages, outline, hasOnlyControl } = decode(content)
      const ids = messages.map(({ id }) => id)
      const places = outline?.map(({ id }) => id) ?? []
      expect(new Set(places).size).toBe(places.length)
      expect(places.filter((id) => id !== null && ids.includes(id))).toEqual(ids)
      expect(messages.every(({ parts }) => parts.length > 0)).toBe(true)
      expect(hasOnlyControl && messages.length > 0).toBe(false)
      const kept = JSON.stringify(messages)
      expect(kept.isWellFormed()).toBe(true)
      expect(JSON.stringify(decode(content).messages)).toBe(kept)
    }),
    { numRuns: 2000 },
  )
})

test('a truncated file gives the same messages up to its end', () => {
  const line = (words: string) => `${JSON.stringify({ role: 'assistant', message: { content: words } })}\n`
  const whole = ['one', 'two', 'three\n{"', 'vier \u{1f600}'].map(line).join('')
  const all = decode(whole).messages.map(({ parts }) => parts)
  for (let length = 0; length <= Buffer.byteLength(whole); length += 1) {
    const { messages, issue } = decode(Buffer.from(whole).subarray(0, length))
    expect([issue, messages.map(({ parts }) => parts)]).toEqual([null, all.slice(0, messages.length)])
  }
})

test.each([
  'user:\n',
  '\nuser:\n',
  '\nuser:\n<user_query>\n',
  '\nuser:\n<timestamp>\n',
  '\nassistant:\n```\n',
  '[Tool call] T\n',
  '[Tool call] T*\n[Tool result] U\n',
  '[Tool call] T\n  a=b\n',
  '[Tool result] T\n  a\n',
  '<think>',
  'a <think>\n',
  '```',
  '` ',
  '\n',
])('decoding a large file of nothing but %j takes linear time', (unit) => {
  const cpuMs = startCpuClock()
  decode(`assistant:\n${unit.repeat(50_000)}`)
  expect(cpuMs()).toBeLessThan(8000)
})
