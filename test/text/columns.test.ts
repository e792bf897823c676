import { describe, expect, test } from 'vitest'
import type { Json } from '../../src/model/json.ts'
import type { Part, ToolPart } from '../../src/model/part.ts'
import { columnOf, searchColumns } from '../../src/text/terms/columns.ts'

const tool = (changes: Partial<ToolPart>): ToolPart => ({
  kind: 'tool',
  name: 'read_file',
  status: 'completed',
  callId: 'call-1',
  input: null,
  output: null,
  error: null,
  paths: [],
  ...changes,
})

describe('the columns of a message', () => {
  test('each kind of part has its own column; todos and errors belong to the text', () => {
    const parts: Part[] = [
      { kind: 'text', text: 'first' },
      { kind: 'thinking', text: 'hm', durationMs: 1 },
      { kind: 'code', language: 'ts', path: 'src/a.ts', text: 'const a = 1' },
      { kind: 'attachment', path: 'notes.md', text: null },
      { kind: 'todo', items: [{ id: '1', content: 'water the plants', status: 'pending' }] },
      { kind: 'error', text: 'it broke' },
    ]
    expect(searchColumns(parts)).toEqual({
      columns: {
        text: 'first\n\nwater the plants\n\nit broke',
        thinking: 'hm',
        code: 'src/a.ts\nconst a = 1',
        tool: '',
        attachment: 'notes.md',
      },
      isCapped: false,
    })
    expect(parts.map((part) => columnOf(part.kind))).toEqual(['text', 'thinking', 'code', 'attachment', 'text', 'text'])
  })

  test('a tool call gives its strings in order, without keys and numbers', () => {
    const part = tool({
      paths: ['/p/a.ts'],
      input: { pattern: 'needle', limit: 7, deep: { list: ['one', { k: 'two' }, null, true] } },
      output: 'plain output',
      error: 'no such file',
    })
    expect(searchColumns([part]).columns.tool).toBe('read_file\n/p/a.ts\nneedle\none\ntwo\nplain output\nno such file')
  })

  test.each<[string, Part[]]>([
    ['input of a tool', [tool({ input: 'x'.repeat(65_537) })]],
    ['output of a tool in pieces', [tool({ output: ['y'.repeat(65_000), 'z'.repeat(1000)] })]],
    ['text', [{ kind: 'text', text: 'x'.repeat(2_097_153) }]],
  ])('too much %s is cut and reported', (_, parts) => {
    const { columns, isCapped } = searchColumns(parts)
    expect(isCapped).toBe(true)
    expect(columns.tool.length).toBeLessThanOrEqual(65_600)
    expect(columns.text.length).toBeLessThanOrEqual(2_097_152)
  })

  test('content that just fits is not cut', () => {
    expect(searchColumns([tool({ input: 'x'.repeat(65_536), output: 'y'.repeat(65_536) })]).isCapped).toBe(false)
  })

  test('a value nested thousands deep is read to a limit, and the cut is reported', () => {
    let value: Json = 'bottom'
    for (let depth = 0; depth < 50_000; depth += 1) value = [value]
    const { columns, isCapped } = searchColumns([tool({ input: ['top', value] })])
    expect(columns.tool).toBe('read_file\ntop')
    expect(isCapped).toBe(true)
  })
})
