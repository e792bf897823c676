import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { decode } from './decoded.ts'
import { startCpuClock } from '../../helpers/cpu-time.ts'

/** Bits of both forms, whole and torn, so that their readers meet one another. */
const scraps = [
  'user:\n',
  'assistant:\n',
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
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 500 }).map((array) => Buffer.from(array)),
  fc.array(fc.constantFrom(...scraps), { maxLength: 30 }).map((parts) => Buffer.from(parts.join(''))),
  fc.json({ maxDepth: 4 }).map((json) => Buffer.from(`{"role":"assistant","message":{"content":[${json}]}}\n`)),
)

test('any bytes are decoded, to messages with something in them and one id and place each', () => {
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

test('a file cut off anywhere gives the same messages up to there', () => {
  const line = (words: string) => `${JSON.stringify({ role: 'assistant', message: { content: words } })}\n`
  const whole = ['one', 'two', 'three\n{"', 'vier \u{1f600}'].map(line).join('')
  const all = decode(whole).messages.map(({ parts }) => parts)
  for (let length = 0; length <= Buffer.byteLength(whole); length += 1) {
    const { messages, issue } = decode(Buffer.from(whole).subarray(0, length))
    expect([issue, messages.map(({ parts }) => parts)]).toEqual([null, all.slice(0, messages.length)])
  }
})

test.each(['user:\n', 'user:\n<user_query>\n', 'assistant:\n```\n', '[Tool call] T\n', '[Tool result] T\n  a\n', '\n'])(
  'a great file of nothing but %j takes time by its size, not by the square of it',
  (unit) => {
    const cpuMs = startCpuClock()
    decode(`assistant:\n${unit.repeat(50_000)}`)
    expect(cpuMs()).toBeLessThan(8000)
  },
)
