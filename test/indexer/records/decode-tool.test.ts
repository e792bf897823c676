import { describe, expect, it, test } from 'vitest'
import { decodeMessageRow } from '../../../src/indexer/sources/records/message/decode-message.ts'
import { decodeBubble, identity, partsOf, toolOf } from './rows.ts'
import { casesBeside } from '../../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

test('a number that JavaScript would round is exact, even if the call is an object in its row', () => {
  const row = JSON.stringify({ type: 2, toolFormerData: { name: 'query', params: { id: 'N' } } }).replace(
    '"N"',
    '7318349394477056123',
  )
  const decoded = decodeMessageRow(row, identity, row.length)
  expect(decoded).toMatchObject({ message: { parts: [{ input: { id: '7318349394477056123' } }] } })
})

it('reads a complete call', () => {
  const call = {
    tool: 15,
    name: 'run_terminal_cmd',
    toolCallId: 'call_1\nfc_2',
    params: '{"command":"ls","cwd":"/p"}',
    rawArgs: '{"command":"ls"}',
    result: '{"output":"a\\nb"}',
    status: 'completed',
  }
  expect(toolOf(call)).toEqual({
    kind: 'tool',
    name: 'run_terminal_cmd',
    status: 'completed',
    callId: 'call_1\nfc_2',
    input: { command: 'ls', cwd: '/p' },
    output: { output: 'a\nb' },
    error: null,
    paths: [],
  })
})

describe('what is a call', () => {
  test.each(cases<[string, unknown, string | null]>('what is a call'))('%s', (_, toolFormerData, name) => {
    const names = partsOf({ type: 2, toolFormerData }).map((part) => (part.kind === 'tool' ? part.name : part.kind))
    expect(names).toEqual(name === null ? [] : [name])
  })

  it('falls back to the data in the chat’s row', () => {
    const fromChat = '{"name":"read_file","params":"{\\"path\\":\\"/a\\"}"}'
    expect(partsOf({ type: 2, toolFormerData: { additionalData: { status: 'error' } } }, fromChat)).toMatchObject([
      { kind: 'tool', name: 'read_file', paths: ['/a'] },
    ])
    expect(partsOf({ type: 2, toolFormerData: { name: 'own' } }, fromChat)).toMatchObject([{ name: 'own' }])
  })
})

describe('input and output', () => {
  test.each(cases<[string, Record<string, unknown>, unknown, unknown]>('input and output'))(
    '%s',
    (_, fields, input, output) => {
      const part = toolOf({ name: 'any', ...fields })
      expect([part.input, part.output]).toEqual([input, output])
    },
  )

  it('a value deeper than 500 levels is dropped and reported, the rest of the row stays', () => {
    const deep = decodeBubble({
      type: 2,
      text: 'said',
      toolFormerData: { name: 'any', params: nested(501), result: '"r"' },
    })
    expect(deep).toMatchObject({
      issue: 'too-deep',
      message: { parts: [{ text: 'said' }, { name: 'any', input: null, output: 'r' }] },
    })
    const inline = `{"toolFormerData":{"name":"any","result":${nested(100_000)}}}`
    const decoded = decodeMessageRow(Buffer.from(inline), identity, 1)
    expect(decoded).toMatchObject({ issue: 'too-deep', message: { parts: [{ output: null, status: 'completed' }] } })
    expect(decodeBubble({ toolFormerData: { name: 'any', params: nested(500) } })).toMatchObject({ issue: null })
  })

  it('half surrogates are replaced at any depth, in keys too', () => {
    const part = toolOf({ name: 'any', params: '{"a\\ud800":["\\udfff"],"__proto__":1}' })
    expect(JSON.stringify(part.input)).toBe('{"a\uFFFD":["\uFFFD"],"__proto__":1}')
  })
})

describe('status', () => {
  test.each(cases<[Record<string, unknown>, string]>('status'))('%j is %s', (fields, status) => {
    expect(toolOf({ name: 'any', ...fields }).status).toBe(status)
  })

  const chosen = (status: unknown, selectedOption: unknown) => ({ reviewData: { status, selectedOption } })
  const rejected = { result: '{"rejected":true}' }

  test.each(cases<[Record<string, unknown>, Record<string, unknown>, string]>('the user’s choice'))(
    'the user’s choice in the dialog decides: %j with %j is %s',
    (additionalData, fields, status) => {
      expect(toolOf({ name: 'run_terminal_cmd', status: 'completed', additionalData, ...fields }).status).toBe(status)
    },
  )

  test.each<[Record<string, unknown>, Record<string, unknown>, string]>([
    [chosen('None', 'rejectAndTellWhatToDoDifferently'), { result: '{"output":"ok","rejected":false}' }, 'completed'],
    [chosen('None', 'reject'), {}, 'completed'],
    [chosen('None', 'rejectAndTellWhatToDoDifferently'), rejected, 'rejected'],
    [chosen('None', 'run'), rejected, 'rejected'],
    [chosen('None', 'accept'), { userDecision: 'rejected' }, 'rejected'],
    [chosen('Requested', 'reject'), {}, 'completed'],
    [chosen(undefined, 'reject'), {}, 'completed'],
    [chosen('None', 'reject'), { status: 'loading', userDecision: 'pending' }, 'running'],
  ])('the default option of a dialog is not the user’s choice: %j with %j is %s', (additionalData, fields, status) => {
    expect(toolOf({ name: 'run_terminal_cmd', status: 'completed', additionalData, ...fields }).status).toBe(status)
  })

  test.each<[Record<string, unknown>, string]>([
    [{}, 'completed'],
    [{ userDecision: 'accepted', result: '{"output":"done"}' }, 'completed'],
    [{ status: 'loading', userDecision: 'pending' }, 'running'],
    [{ userDecision: 'accepted', result: '{"rejected":true}' }, 'rejected'],
  ])('a call that was blocked first has the status of its end: %j is %s', (fields, status) => {
    const additionalData = { blockReason: 'outOfWorkspace' }
    expect(toolOf({ name: 'run_terminal_cmd', status: 'completed', additionalData, ...fields }).status).toBe(status)
  })

  const huge: [string, unknown] = ['a huge status', { status: 'reject'.repeat(200_000), selectedOption: 'reject' }]
  test.each([...cases<[string, unknown]>('a damaged review has no effect'), huge])(
    'a damaged review has no effect: %s',
    (_, reviewData) => {
      const call = { name: 'run_terminal_cmd', status: 'completed', additionalData: { reviewData }, result: '{"a":1}' }
      expect(decodeBubble({ type: 2, toolFormerData: call })).toMatchObject({
        issue: null,
        message: { parts: [{ name: 'run_terminal_cmd', status: 'completed', output: { a: 1 } }] },
      })
    },
  )
})

test.each<[unknown, string | null]>([
  ['{"clientVisibleErrorMessage":"c","modelVisibleErrorMessage":"m"}', 'c'],
  ['{"clientVisibleErrorMessage":" ","modelVisibleErrorMessage":"m"}', 'm'],
  [{ modelVisibleErrorMessage: 'm' }, 'm'],
  [{ reason: 'r' }, 'r'],
  ['{"other":1}', '{"other":1}'],
  ['plain', 'plain'],
  ['', null],
  [undefined, null],
])('error %j reads %j', (error, text) => {
  expect(toolOf({ name: 'any', error }).error).toBe(text)
})

describe('MCP', () => {
  const params = { tools: [{ name: 'search', serverName: 'wiki', parameters: '{"path":"/x"}' }], path: '/x' }
  test.each([
    ['mcp', 'mcp_wiki_search'],
    ['call_mcp_tool', 'mcp_wiki_search'],
    ['mcp_wiki_search', 'mcp_wiki_search'],
    ['mcp-wiki-search', 'mcp-wiki-search'],
  ])('%s is called %s and names no paths', (name, shown) => {
    expect(toolOf({ name, params: JSON.stringify(params) })).toMatchObject({ name: shown, paths: [] })
  })
  it('keeps the generic name if the arguments do not name the tool', () => {
    expect(toolOf({ name: 'mcp', params: '{"tools":[]}' }).name).toBe('mcp')
  })
})

test.each(cases<[Record<string, unknown>, readonly string[]]>('arguments name the paths'))(
  'arguments %j name the paths %j',
  (params, paths) => {
    expect(toolOf({ name: 'any', params: JSON.stringify(params) }).paths).toEqual(paths)
  },
)

describe('what a call wrote', () => {
  const params = '{"relativeWorkspacePath":"a.ts"}'
  it('is a diff with marks', () => {
    const lines = [
      { type: 'unchanged', content: 'one' },
      { type: 'removed', content: 'two' },
      { type: 'added', content: 'three' },
      { content: '' },
      {},
    ]
    const parts = partsOf({
      type: 2,
      toolFormerData: { name: 'edit_file_v2', params, additionalData: { precomputedDiff: { lines } } },
    })
    expect(parts).toMatchObject([
      { kind: 'code', language: 'diff', path: 'a.ts', text: ' one\n-two\n+three\n ' },
      { kind: 'tool', output: null },
    ])
  })
  it('is a file, given once', () => {
    const additionalData = { codeblock: { content: 'let a', languageId: 'typescript' }, subagentComposerId: 'c' }
    const parts = partsOf({
      type: 2,
      codeBlocks: [{ content: 'let a' }],
      toolFormerData: { name: 'write', params, additionalData },
    })
    expect(parts).toMatchObject([
      { kind: 'code', language: 'typescript', path: 'a.ts', text: 'let a' },
      { kind: 'tool', output: null },
    ])
  })
})

test.each([
  ['an argument', { params: { patch: '*** Begin Patch\n*** Update File: src/a.ts\n+x\n*** End Patch' } }],
  ['the whole input', { rawArgs: '*** Begin Patch\n*** Update File: src/a.ts\n+x\n*** End Patch' }],
  ['under another name', { params: { input: '*** Begin Patch\n*** Update File: src/a.ts\n+x\n*** End Patch' } }],
])('the files of a patch are named if it is %s', (_, call) => {
  expect(toolOf({ name: 'apply_patch', ...call })).toMatchObject({ paths: ['src/a.ts'] })
})
