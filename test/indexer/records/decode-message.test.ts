import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeMessageRow } from '../../../src/indexer/sources/records/message.ts'
import { casesBeside, writtenOut } from '../../helpers/cases.ts'
import { bytes, decodeBubble, halfCharacter, halvedJson, messageId, messageOf, partsOf, toolOf } from './rows.ts'

const cases = casesBeside(import.meta.url)

type Fields = Record<string, unknown>

test.each(writtenOut(cases<[string, Fields, object]>('rows')))('%s', (_, bubble, expected) => {
  expect(decodeBubble(bubble)).toMatchObject(expected)
})

test.each(cases<[string, string, Fields]>('a row that is no message'))(
  '%s is reported with its reason',
  (_, text, expected) => {
    expect(decodeMessageRow(Buffer.from(text), messageId, 1)).toEqual(expected)
  },
)

test.each(cases<[unknown, string]>('roles'))('type %j is the %s', (type, role) => {
  expect(messageOf({ type, text: 'a' }).role).toBe(role)
})

test.each(cases<[string, unknown, number | null]>('times'))('the time is %s', (_, createdAt, sentAtMs) => {
  expect(messageOf({ text: 'a', createdAt }).sentAtMs).toBe(sentAtMs)
})

test.each(cases<[Fields, string | null]>('models'))('%j names the model %j', (fields, model) => {
  expect(messageOf({ text: 'a', ...fields }).model).toBe(model)
})

test.each(cases<[unknown, unknown]>('token counts'))('token count %j is %j', (tokenCount, tokens) => {
  expect(messageOf({ text: 'a', tokenCount }).tokens).toEqual(tokens)
})

describe('parts', () => {
  test.each(cases<[string, Fields, string]>('text'))('text: %s', (_, fields, text) => {
    expect(partsOf({ type: 1, ...fields })).toEqual([{ kind: 'text', text }])
  })

  test.each(cases<[string, Fields, object]>('thinking'))('thinking: %s, and never its signature', (_, fields, told) => {
    expect(partsOf({ type: 2, ...fields })).toEqual([{ kind: 'thinking', ...told }])
  })

  test.each(cases<[string, Fields, [string, string | null, string | null][]]>('code'))(
    'code: %s',
    (_, fields, blocks) => {
      const code = blocks.map(([text, language, path]) => ({ kind: 'code', language, path, text }))
      expect(partsOf({ type: 2, ...fields })).toEqual(code)
    },
  )

  test.each(cases<[string, Fields, [string, string | null][]]>('attachments'))(
    'attachments: %s',
    (_, fields, expected) => {
      const attachments = expected.map(([path, text]) => ({ kind: 'attachment', path, text }))
      expect(partsOf({ type: 1, ...fields })).toEqual(attachments)
    },
  )

  test.each(cases<[unknown, string]>('error details'))('error details %j appear once each', (errorDetails, text) => {
    expect(partsOf({ errorDetails })).toEqual([{ kind: 'error', text }])
  })

  test('text is read from an editor state deeper than the stack, and from one wider than an argument list', () => {
    const deep = `{"root":${'{"type":"link","children":['.repeat(50_000)}{"text":"deep"}${']}'.repeat(50_000)}}`
    expect(decodeMessageRow(Buffer.from(`{"richText":${deep}}`), messageId, 1)).toMatchObject({
      message: { parts: [{ text: 'deep' }] },
    })
    const children = Array.from({ length: 200_000 }, () => ({ type: 'text', text: 'w' }))
    const wide = { root: { type: 'root', children: [{ type: 'paragraph', children }] } }
    expect(partsOf({ richText: wide })).toEqual([{ kind: 'text', text: 'w'.repeat(200_000) }])
  })

  test('text has only broken UTF-8 and half surrogates replaced', () => {
    const broken = Buffer.concat([Buffer.from('{"text":"a'), Buffer.from([0xff]), Buffer.from('b"}')])
    expect(decodeMessageRow(broken, messageId, 1)).toMatchObject({ message: { parts: [{ text: 'a\uFFFDb' }] } })
    const half = Buffer.from('{"text":"a\\ud800b \\ud83d\\ude00 \\u0000"}')
    expect(decodeMessageRow(half, messageId, 1)).toMatchObject({ message: { parts: [{ text: 'a\uFFFDb 😀 \u0000' }] } })
  })
})

describe('a call', () => {
  const command = (fields: Fields): string =>
    toolOf({ name: 'run_terminal_cmd', status: 'completed', ...fields }).status

  test.each(cases<[string, unknown, string | null]>('what is a call'))('is %s', (_, toolFormerData, name) => {
    const names = partsOf({ type: 2, toolFormerData }).map((part) => (part.kind === 'tool' ? part.name : part.kind))
    expect(names).toEqual(name === null ? [] : [name])
  })

  test('falls back to the data in the chat’s row', () => {
    const fromChat = '{"name":"read_file","params":"{\\"path\\":\\"/a\\"}"}'
    expect(partsOf({ type: 2, toolFormerData: { additionalData: { status: 'error' } } }, fromChat)).toMatchObject([
      { kind: 'tool', name: 'read_file', paths: ['/a'] },
    ])
    expect(partsOf({ type: 2, toolFormerData: { name: 'own' } }, fromChat)).toMatchObject([{ name: 'own' }])
  })

  test('has exact numbers that JavaScript would round, even if it is an object in its row', () => {
    const row = '{"type":2,"toolFormerData":{"name":"query","params":{"id":7318349394477056123}}}'
    const parts = [{ input: { id: '7318349394477056123' } }]
    expect(decodeMessageRow(row, messageId, row.length)).toMatchObject({ message: { parts } })
  })

  test.each(cases<[string, Fields, unknown, unknown]>('input and output'))(
    'has input and output: %s',
    (_, fields, input, output) => {
      const part = toolOf({ name: 'any', ...fields })
      expect([part.input, part.output]).toEqual([input, output])
    },
  )

  test('has no output that is nested a hundred thousand levels deep', () => {
    const row = `{"toolFormerData":{"name":"any","result":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`
    const decoded = decodeMessageRow(Buffer.from(row), messageId, 1)
    expect(decoded).toMatchObject({ issue: 'too-deep', message: { parts: [{ output: null, status: 'completed' }] } })
  })

  test.each(cases<[Fields, string]>('status'))('%j is %s', (fields, status) => {
    expect(toolOf({ name: 'any', ...fields }).status).toBe(status)
  })

  test.each(cases<[Fields, Fields, string]>('the user’s choice'))(
    'has the status that the user chose in the dialog: %j with %j is %s',
    (additionalData, fields, status) => {
      expect(command({ additionalData, ...fields })).toBe(status)
    },
  )

  test.each(cases<[Fields, Fields, string]>('the default option'))(
    'the default option of a dialog is not the user’s choice: %j with %j is %s',
    (additionalData, fields, status) => {
      expect(command({ additionalData, ...fields })).toBe(status)
    },
  )

  test.each(cases<[Fields, string]>('blocked calls'))(
    'a call that was blocked first has the status of its end: %j is %s',
    (fields, status) => {
      expect(command({ additionalData: { blockReason: 'outOfWorkspace' }, ...fields })).toBe(status)
    },
  )

  test.each(writtenOut(cases<[string, unknown]>('damaged reviews')))(
    'is not affected by a damaged review: %s',
    (_, reviewData) => {
      const call = { name: 'run_terminal_cmd', status: 'completed', additionalData: { reviewData }, result: '{"a":1}' }
      const parts = [{ name: 'run_terminal_cmd', status: 'completed', output: { a: 1 } }]
      expect(decodeBubble({ type: 2, toolFormerData: call })).toMatchObject({ issue: null, message: { parts } })
    },
  )

  test.each(cases<[unknown, string | null]>('errors of calls'))('has the error %j as %j', (error, text) => {
    expect(toolOf({ name: 'any', error }).error).toBe(text)
  })

  test.each(cases<[string, string]>('names of MCP tools'))(
    'of MCP, %s, is called %s and names no paths',
    (name, shown) => {
      const tools = [{ name: 'search', serverName: 'wiki', parameters: '{"path":"/x"}' }]
      const params = JSON.stringify({ tools, path: '/x' })
      expect(toolOf({ name, params })).toMatchObject({ name: shown, paths: [] })
    },
  )

  test.each(cases<[Fields, string[]]>('arguments name the paths'))(
    'with the arguments %j names the paths %j',
    (params, paths) => {
      expect(toolOf({ name: 'any', params: JSON.stringify(params) }).paths).toEqual(paths)
    },
  )

  test.each(cases<[string, Fields]>('patches'))('names the files of a patch if it is %s', (_, call) => {
    expect(toolOf({ name: 'apply_patch', ...call })).toMatchObject({ paths: ['src/a.ts'] })
  })
})

const known = 'text richText content thinking allThinkingBlocks codeBlocks toolFormerData context fileSelections '
  .concat('attachedCodeChunks images todos errorDetails createdAt timingInfo tokenCount modelInfo __proto__ ')
  .concat('workspaceUris workspaceProjectDir projectLayouts')
  .split(' ')

describe('decoding is total', () => {
  test('any bytes become something that can be stored', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (raw) => {
        expect(typeof JSON.stringify(decodeMessageRow(Buffer.from(raw), messageId, raw.length))).toBe('string')
      }),
    )
  })

  test('any JSON in any known field becomes something that can be stored, with valid text', () => {
    const listed = fc.array(fc.oneof(halvedJson, fc.record({ rootPath: halvedJson })))
    const row = fc.dictionary(fc.constantFrom(...known), fc.oneof(halvedJson, listed))
    fc.assert(
      fc.property(row, halvedJson, (bubble, toolData) => {
        expect(JSON.stringify(decodeBubble(bubble, toolData))).not.toMatch(halfCharacter)
      }),
    )
  })

  test('any text stays unchanged', () => {
    const graphemes = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => /\S/u.test(text))
    fc.assert(
      fc.property(graphemes, (text) => {
        expect(partsOf({ type: 1, text })).toEqual([{ kind: 'text', text }])
      }),
    )
  })

  test('a row with an unknown field nested a hundred thousand levels deep is still read', () => {
    const row = `{"text":"a","x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    expect(decodeMessageRow(Buffer.from(row), messageId, 1)).toMatchObject({ kind: 'message', issue: null })
  })

  test('a key named __proto__ has no effect', () => {
    const row = Buffer.from('{"__proto__":{"text":"p"},"type":1,"codeBlocks":[]}')
    expect(decodeMessageRow(row, messageId, 1)).toEqual({ kind: 'nothing', issue: null })
    expect(bytes({}).toString()).toBe('{}')
  })
})
