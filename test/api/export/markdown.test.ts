import { readFileSync } from 'node:fs'
import { assert, constantFrom, property, string } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { closingOf, codeSpan, fenced, plain, quoted } from '../../../src/shared/part.ts'
import type { Part } from '../../../src/model/part.ts'
import { fileOf, hostileChat, hostileMessages, hostileTexts, messageOf, plainChat } from './hostile-chat.ts'
import { casesBeside } from '../../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

const golden = readFileSync(new URL('markdown.golden.txt', import.meta.url), 'utf8')

const tool: Part = {
  kind: 'tool',
  name: 'read_file',
  status: 'error',
  callId: 'x',
  input: { path: 'a.ts' },
  output: 'one\ntwo',
  error: 'it broke',
  paths: ['a.ts', 'b`.ts'],
}

const parts: readonly Part[] = [
  { kind: 'thinking', text: 'hm\n\nso\n', durationMs: 3200 },
  { kind: 'text', text: ' **verbatim** <b> ' },
  { kind: 'code', language: 'c++', path: 'a.cpp', text: 'a ```` b\n' },
  { kind: 'code', language: null, path: null, text: '' },
  tool,
  { kind: 'attachment', path: 'notes.md', text: '```js\nx\n```' },
  { kind: 'attachment', path: 'gone.md', text: null },
  {
    kind: 'todo',
    items: [
      { id: null, content: 'a\nb', status: 'completed' },
      { id: null, content: '<i>', status: 'in_progress' },
      { id: null, content: 'c', status: null },
    ],
  },
  { kind: 'error', text: 'Lost.' },
]

it('a chat is its title, its facts, and a heading for each message', () => {
  const chat = { ...plainChat, title: '# Fix <b> of\n`x_y`' }
  const messages = [
    messageOf('q', [{ kind: 'text', text: 'Why?' }], { role: 'user' }),
    messageOf('a', parts, { model: 'gpt-5', position: 1, createdAtSource: 'neighbour' }),
  ]
  expect(fileOf('markdown', chat, messages)).toBe(golden)
})

it('what is not known of a chat is not mentioned', () => {
  const bare = {
    ...plainChat,
    project: null,
    createdAt: null,
    lastActivityAt: null,
    mode: null,
    model: null,
    models: [],
  }
  const none = {
    ...bare,
    toolCallCount: 0,
    linesAdded: null,
    linesRemoved: null,
    filesChanged: null,
    isArchived: false,
  }
  expect(fileOf('markdown', none, [])).toBe('# Fix the login\n\n- Messages: 1,234\n- Id: c1\n')
})

describe('a hostile chat', () => {
  const text = fileOf('markdown', hostileChat, hostileMessages)

  it.each(hostileTexts)('holds %j to the letter', (each) => {
    expect(text).toContain(`\n${each}\n`)
  })

  it('has a heading line for each message and tool, and none begun by what it holds elsewhere', () => {
    const bare = messageOf('m', [
      { kind: 'todo', items: [{ id: null, content: '\n# one', status: '\n# two' }] },
      { kind: 'attachment', path: '\n# three', text: null },
      { ...tool, name: '\n# four', paths: ['\n# five'], input: null, output: null, error: null },
    ])
    const chat = { ...plainChat, title: '\n# six', project: null, mode: '\n# seven' }
    const lines = fileOf('markdown', chat, [bare]).split('\n')
    expect(lines.filter((line) => /^ {0,3}#/u.test(line))).toEqual([
      '# \\# six',
      '## Assistant · 2026-02-19 20:30:00 UTC',
      '### Attachment: `# three`',
      '### Tool: `# four` · error',
    ])
  })
})

describe('what a text leaves open is closed, and only that', () => {
  it.each(cases<[text: string, closing: string | null]>('left open'))('%j is closed by %j', (text, closing) => {
    expect(closingOf(text)).toBe(closing)
    const document = fileOf('markdown', plainChat, [messageOf('m', [{ kind: 'text', text }])])
    const end = text.endsWith('\n') ? '' : '\n'
    expect(document.endsWith(`UTC\n\n${text}${end}${closing === null ? '' : `${closing}\n`}`)).toBe(true)
  })

  const lines = string({
    unit: constantFrom('```', '~~~', '`', '<!--', '-->', '<pre>', '\n', ' ', 'a', '\r', '- ', '> ', '\t', '<p>'),
  })

  it('nothing is open behind what closes a text', () => {
    assert(
      property(lines, (text) => {
        const closing = closingOf(text)
        expect(closingOf(closing === null ? text : `${text}\n${closing}\n`)).toBeNull()
      }),
    )
  })

  it('a fence is longer than any within, and holds the text', () => {
    assert(
      property(lines, (text) => {
        const block = fenced(text, 'a b`c\n').split('\n')
        const fence = block[0]?.replace('abc', '') ?? ''
        expect(fence).toMatch(/^`{3,}$/u)
        expect(text).not.toContain(fence)
        expect(block.slice(-2)).toEqual([fence, ''])
        expect(block.slice(1, -2).join('\n')).toBe(text.replace(/\n$/u, ''))
      }),
    )
  })
})

it.each([
  ['a`b', '``a`b``'],
  ['`a`', '`` `a` ``'],
  ['a\nb', '`a b`'],
  ['', '`  `'],
])('a span of code holds %j', (text, span) => {
  expect(codeSpan(text)).toBe(span)
})

it('words within a line mean themselves', () => {
  expect(plain(' a\n*b* _c_ [d](e) <f> &g; `h` #i ~j~ |k| \\l ')).toBe(
    String.raw`a \*b\* \_c\_ \[d\](e) \<f\> \&g; \`h\` \#i \~j\~ \|k\| \\l`,
  )
})

it('no line of a quote stands outside', () => {
  expect(quoted('a\r\nb\rc\n\nd\n\n')).toBe('> a\n> b\n> c\n>\n> d\n')
})
