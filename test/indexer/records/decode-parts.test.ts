import { describe, expect, it, test } from 'vitest'
import { decodeMessageRow } from '../../../src/indexer/sources/records/message/decode-message.ts'
import { identity, partsOf } from './rows.ts'
import { casesBeside } from '../../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

const lexical = (...paragraphs: unknown[][]) => ({
  root: { type: 'root', children: paragraphs.map((children) => ({ type: 'paragraph', children })) },
})
const word = (text: string) => ({ type: 'text', text })

describe('text', () => {
  test.each(cases<[string, Record<string, unknown>, string]>('text'))('%s', (_, fields, text) => {
    expect(partsOf({ type: 1, ...fields })).toEqual([{ kind: 'text', text }])
  })

  it('is read from an editor state deeper than the stack, and from one wider than an argument list', () => {
    const deep = `{"root":${'{"type":"link","children":['.repeat(50_000)}{"text":"deep"}${']}'.repeat(50_000)}}`
    expect(decodeMessageRow(Buffer.from(`{"richText":${deep}}`), identity, 1)).toMatchObject({
      message: { parts: [{ text: 'deep' }] },
    })
    const wide = lexical(Array.from({ length: 200_000 }, () => word('w')))
    expect(partsOf({ richText: wide })).toEqual([{ kind: 'text', text: 'w'.repeat(200_000) }])
  })

  it('has only broken UTF-8 and half surrogates replaced', () => {
    const broken = Buffer.concat([Buffer.from('{"text":"a'), Buffer.from([0xff]), Buffer.from('b"}')])
    expect(decodeMessageRow(broken, identity, 1)).toMatchObject({ message: { parts: [{ text: 'a\uFFFDb' }] } })
    const half = Buffer.from('{"text":"a\\ud800b \\ud83d\\ude00 \\u0000"}')
    expect(decodeMessageRow(half, identity, 1)).toMatchObject({ message: { parts: [{ text: 'a\uFFFDb 😀 \u0000' }] } })
  })
})

describe('thinking', () => {
  test.each(cases<[string, Record<string, unknown>, unknown]>('thinking'))(
    '%s, and never its signature',
    (_, fields, expected) => {
      expect(partsOf({ type: 2, ...fields })).toEqual([{ kind: 'thinking', ...(expected as object) }])
    },
  )
})

describe('code', () => {
  test.each(cases<[string, Record<string, unknown>, readonly unknown[]]>('code'))('%s', (_, fields, blocks) => {
    const expected = blocks.map((block) => {
      const [text, language, path] = block as readonly unknown[]
      return { kind: 'code', language, path, text }
    })
    expect(partsOf({ type: 2, ...fields })).toEqual(expected)
  })

  it('is left out if the text shows it', () => {
    const text = 'so:\n```ts\nlet a = 1\n```'
    expect(partsOf({ text, codeBlocks: [{ content: 'let a = 1\n' }] })).toEqual([{ kind: 'text', text }])
  })
})

describe('attachments', () => {
  test.each(cases<[string, Record<string, unknown>, readonly (readonly [string, string | null])[]]>('attachments'))(
    '%s',
    (_, fields, expected) => {
      expect(partsOf({ type: 1, ...fields })).toEqual(
        expected.map(([path, text]) => ({ kind: 'attachment', path, text })),
      )
    },
  )
})

it('reads to-do items as objects and as JSON strings', () => {
  const todos = [{ id: '1', content: 'a', status: 'pending' }, '{"id":2,"content":"b"}', 'bare', {}, 7]
  expect(partsOf({ todos })).toEqual([
    {
      kind: 'todo',
      items: [
        { id: '1', content: 'a', status: 'pending' },
        { id: '2', content: 'b', status: null },
        { id: null, content: 'bare', status: null },
      ],
    },
  ])
})

test.each<[unknown, string]>([
  ['no network', 'no network'],
  ['{"message":"m"}', 'm'],
  [{ error: 'e', details: [{ title: 't', detail: 'e' }], code: 5, hint: 'h' }, 'e\nt\nh'],
])('error details %j appear once each', (errorDetails, text) => {
  expect(partsOf({ errorDetails })).toEqual([{ kind: 'error', text }])
})

describe('a row with every kind of part', () => {
  const everything = {
    thinking: { text: 'think' },
    text: 'say',
    codeBlocks: [{ content: 'code' }],
    toolFormerData: { name: 'list_dir', params: '{}', status: 'completed' },
    fileSelections: [{ uri: '/a' }],
    todos: [{ content: 'do' }],
    errorDetails: 'wrong',
  }
  it('gives every part of the assistant in display order', () => {
    const kinds = partsOf({ type: 2, ...everything }).map((part) => part.kind)
    expect(kinds).toEqual(['thinking', 'text', 'code', 'tool', 'attachment', 'todo', 'error'])
  })
  it('gives the user’s text first, then the attachments', () => {
    const kinds = partsOf({ type: 1, ...everything }).map((part) => part.kind)
    expect(kinds.slice(0, 2)).toEqual(['text', 'attachment'])
    expect(kinds).toHaveLength(7)
  })
})
