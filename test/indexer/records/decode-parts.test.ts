import { describe, expect, it, test } from 'vitest'
import { decodeMessageRow } from '../../../src/indexer/sources/records/message/decode-message.ts'
import { identity, partsOf } from './rows.ts'

const lexical = (...paragraphs: unknown[][]) => ({
  root: { type: 'root', children: paragraphs.map((children) => ({ type: 'paragraph', children })) },
})
const word = (text: string) => ({ type: 'text', text })

describe('text', () => {
  const tabbed = lexical([word('see '), { type: 'mention', mentionName: 'app.ts' }, { type: 'tab' }, word('ok')])
  test.each<[string, Record<string, unknown>, string]>([
    ['is verbatim', { text: '  a\r\n ' }, '  a\r\n '],
    ['wins over its editor state', { text: 'a', richText: lexical([word('b')]) }, 'a'],
    ['comes from the editor state if it is blank', { text: ' ', richText: JSON.stringify(tabbed) }, 'see app.ts\tok'],
    ['comes from an editor state that is an object', { richText: tabbed }, 'see app.ts\tok'],
    [
      'joins paragraphs by line',
      { richText: lexical([word('a'), { type: 'linebreak' }, word('b')], [], [word('c')]) },
      'a\nb\n\nc',
    ],
    [
      'keeps a link within its line',
      { richText: lexical([word('a '), { type: 'link', children: [word('b')] }]) },
      'a b',
    ],
    [
      'breaks lines between list items',
      {
        richText: {
          root: {
            children: [
              {
                type: 'list',
                children: [
                  { type: 'listitem', children: [word('a')] },
                  { type: 'listitem', children: [word('b')] },
                ],
              },
            ],
          },
        },
      },
      'a\nb',
    ],
    ['is a rich text that is no JSON', { richText: 'plain words' }, 'plain words'],
    ['is a rich text that is JSON by chance', { richText: '42' }, '42'],
    ['comes from rawText', { text: '', rawText: 'raw', content: 'c' }, 'raw'],
    ['comes from delegate', { delegate: 'd' }, 'd'],
    ['comes from a delegate object', { delegate: { a: 'd' } }, 'd'],
    ['comes from initText', { initText: JSON.stringify(lexical([word('i')])), content: 'c' }, 'i'],
    ['comes from content', { content: 'c', message: 'm' }, 'c'],
    [
      'comes from a list of blocks',
      { content: [{ type: 'text', text: 'a' }, { type: 'image' }, { type: 'text', text: 'b' }] },
      'a\nb',
    ],
    ['comes from message', { message: 'm' }, 'm'],
    ['passes over an empty editor state', { richText: lexical([]), message: 'm' }, 'm'],
  ])('%s', (_, fields, text) => {
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
  test.each<[string, Record<string, unknown>, unknown]>([
    [
      'has its duration',
      { thinking: { text: 't', signature: 'S' }, thinkingDurationMs: 1200.5 },
      { text: 't', durationMs: 1200.5 },
    ],
    ['may be a string', { thinking: 't', thinkingDurationMs: '5' }, { text: 't', durationMs: null }],
    [
      'falls back on blocks',
      { thinking: { text: '' }, allThinkingBlocks: [{ thinking: 'a', signature: 'S' }, { text: 'b' }, 'c', {}] },
      { text: 'a\n\nb\n\nc', durationMs: null },
    ],
  ])('%s, and never its signature', (_, fields, expected) => {
    expect(partsOf({ type: 2, ...fields })).toEqual([{ kind: 'thinking', ...(expected as object) }])
  })
})

describe('code', () => {
  test.each<[string, Record<string, unknown>, readonly unknown[]]>([
    [
      'keeps language and path',
      { codeBlocks: [{ content: 'x = 1\n', languageId: 'python', uri: { fsPath: '/a.py' } }] },
      [['x = 1\n', 'python', '/a.py']],
    ],
    ['uses a URI string unchanged', { codeBlocks: [{ content: 'x', uri: 'file:///b' }] }, [['x', null, 'file:///b']]],
    [
      'comes from suggestions too',
      { suggestedCodeBlocks: [{ content: 's', uri: { path: '/s' } }] },
      [['s', null, '/s']],
    ],
    ['is left out where it is blank', { codeBlocks: [{ content: ' ' }, { content: 4 }, null] }, []],
    [
      'is not given twice',
      { codeBlocks: [{ content: 'x' }, { content: 'x', uri: '/p' }, { content: 'x', uri: '/p' }] },
      [['x', null, '/p']],
    ],
  ])('%s', (_, fields, blocks) => {
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
  test.each<[string, Record<string, unknown>, readonly (readonly [string, string | null])[]]>([
    [
      'files',
      { fileSelections: [{ uri: { fsPath: '/a', external: 'file:///a' } }, { uri: { external: 'file:///b' } }, {}] },
      [
        ['/a', null],
        ['file:///b', null],
      ],
    ],
    [
      'files without a URI, with their content',
      { context: { fileSelections: [{ fileName: 'auth.py', content: 'def login' }, { fileName: ' ' }] } },
      [['auth.py', 'def login']],
    ],
    [
      'folders',
      { folderSelections: [{ relativeWorkspacePath: 'src' }, { relativePath: 'lib/' }] },
      [
        ['src', null],
        ['lib/', null],
      ],
    ],
    [
      'selections',
      { selections: [{ rawText: 's', uri: { path: '/s' } }, { text: 'bare' }] },
      [
        ['/s', 's'],
        ['selection', 'bare'],
      ],
    ],
    [
      'chunks with lines',
      { attachedCodeChunks: [{ relativeWorkspacePath: 'c.ts', lines: ['a', { text: 'b' }, 3] }] },
      [['c.ts', 'a\nb']],
    ],
    ['chunks with contents', { attachedCodeChunks: [{ uri: { fsPath: '/c' }, contents: 'k' }] }, [['/c', 'k']]],
    ['terminals', { terminalSelections: [{ text: '$ ls' }] }, [['terminal', '$ ls']]],
    [
      'links',
      { externalLinks: [{ url: 'https://e.test/' }, 'https://f.test/'] },
      [
        ['https://e.test/', null],
        ['https://f.test/', null],
      ],
    ],
    [
      'images',
      {
        images: [{ path: '/i.png', data: [1, 2] }],
        selectedImages: [{ uuid: 'u' }, { path: 'data:image/png;base64,AAAA' }],
      },
      [
        ['/i.png', null],
        ['image', null],
      ],
    ],
    ['an image of bare bytes', { images: ['iVBORw0KGgo/AAAA'] }, [['image', null]]],
    [
      'one thing once',
      { fileSelections: [{ uri: '/a' }], context: { fileSelections: [{ uri: '/a' }, { uri: '/b' }] } },
      [
        ['/a', null],
        ['/b', null],
      ],
    ],
  ])('%s', (_, fields, expected) => {
    expect(partsOf({ type: 1, ...fields })).toEqual(
      expected.map(([path, text]) => ({ kind: 'attachment', path, text })),
    )
  })
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
