import { describe, expect, test } from 'vitest'
import { query } from '../../helpers/eras/transcripts.ts'
import { decode, partsOf, text, tool } from './decoded.ts'

const answer = (...words: readonly string[]): string => ['assistant:', ...words, ''].join('\n')
const thinking = (words: string) => ({ kind: 'thinking', text: words, durationMs: null })

test('roles alternate as their lines say', () => {
  const content = `user:\n${query('a')}\n\nassistant:\nb\n\nassistant:\nc\n\nuser:\nd\n`
  expect(partsOf(content)).toEqual([
    ['user', text('a')],
    ['assistant', text('b')],
    ['assistant', text('c')],
    ['user', text('d')],
  ])
  expect(decode(content).outline?.map(({ id }) => id)).toEqual(['chat/0', 'chat/1', 'chat/2', 'chat/3'])
})

test.each<[string, string[], unknown[]]>([
  ['prose, without the empty lines around it', ['', '  a', '', 'b ', ''], [text('  a\n\nb ')]],
  ['reasoning on one line', ['[Thinking] hm', 'a'], [thinking('hm'), text('a')]],
  ['reasoning below its mark', ['[Thinking]', '  hm', '', '    so', 'a'], [thinking('hm\n\n  so'), text('a')]],
  [
    'a call with arguments',
    ['[Tool call] Read', '  path=/w/a.ts', '  limit=20', 'a'],
    [tool('Read', { input: { path: '/w/a.ts', limit: '20' }, paths: ['/w/a.ts'], status: 'running' }), text('a')],
  ],
  [
    'arguments with colons',
    ['[Tool call] Shell', '  command: ls -l', 'a'],
    [tool('Shell', { input: { command: 'ls -l' }, status: 'running' }), text('a')],
  ],
  [
    'an argument of several lines',
    ['[Tool call] Write', '  contents=a', '    b', '', '    c'],
    [tool('Write', { input: { contents: 'a\n  b\n\n  c' }, status: 'running' })],
  ],
  [
    'arguments that are JSON',
    ['[Tool call] T', '  {"a":', '   1}'],
    [tool('T', { input: { a: 1 }, status: 'running' })],
  ],
  [
    'arguments of no known form',
    ['[Tool call] T', '  a', '  b=c'],
    [tool('T', { input: 'a\nb=c', status: 'running' })],
  ],
  ['a call without arguments', ['[Tool call] T'], [tool('T', { status: 'running' })]],
  [
    'a result',
    ['[Tool call] T', '', '[Tool result] T', '  a', '    b', 'c'],
    [tool('T', { output: 'a\n  b' }), text('c')],
  ],
  ['a result that is JSON', ['[Tool call] T', '[Tool result]', '  [1]'], [tool('T', { output: [1] })]],
  [
    'results of calls side by side',
    ['[Tool call] A', '[Tool call] B', '[Tool result] A', '  1 a', '[Tool result] B', '  2 b'],
    [tool('A', { output: '1 a' }), tool('B', { output: '2 b' })],
  ],
  ['a result without a call', ['[Tool result] T', '  a'], [tool('T', { output: 'a' })]],
  ['a result without words', ['[Tool call] T', '[Tool result] T', 'a'], [tool('T', { status: 'running' }), text('a')]],
  ['a mark that is not at the margin', ['a', '  [Thinking] b'], [text('a\n  [Thinking] b')]],
  ['a word that begins like a mark', ['[Thinking]s'], [text('[Thinking]s')]],
  [
    'withheld reasoning, which is nothing',
    ['[REDACTED]', '[Thinking] [REDACTED]', '[Tool call] T'],
    [tool('T', { status: 'running' })],
  ],
])('an answer holds %s', (_, words, parts) => {
  expect(partsOf(answer(...words))).toEqual([['assistant', ...parts]])
})

test('a call is over once another message follows', () => {
  expect(partsOf(`${answer('[Tool call] T')}${answer('a')}`)[0]).toEqual(['assistant', tool('T')])
})

describe('a line that looks like a role', () => {
  test('belongs to the prompt while that is open', () => {
    const content = `user:\n${query('a\nassistant:\nb\nuser:\nc')}\n${answer('d')}`
    expect(partsOf(content)).toEqual([
      ['user', text('a\nassistant:\nb\nuser:\nc')],
      ['assistant', text('d')],
    ])
  })

  test('belongs to the code in which it stands', () => {
    const code = ['```yaml', 'user:', '  name: a', '```']
    expect(partsOf(`${answer(...code)}user:\n${query('b')}\n`)).toEqual([
      ['assistant', text(code.join('\n'))],
      ['user', text('b')],
    ])
  })

  test('opens a prompt where code never ended', () => {
    expect(partsOf(`${answer('```', 'a')}user:\n${query('b')}\n`)).toEqual([
      ['assistant', text('```\na')],
      ['user', text('b')],
    ])
  })

  test('opens a message where a prompt never ended', () => {
    expect(partsOf(`user:\n<user_query>\na\n\n${answer('b')}user:\n${query('c')}\n`)).toEqual([
      ['user', text('a')],
      ['assistant', text('b')],
      ['user', text('c')],
    ])
  })
})

test('lines of Windows are read', () => {
  const content = `user:\n${query('a\nb')}\n${answer('c', 'd', '[Tool call] T', '  x=1')}`.replaceAll('\n', '\r\n')
  expect(partsOf(content)).toEqual([
    ['user', text('a\r\nb')],
    ['assistant', text('c\r\nd'), tool('T', { input: { x: '1' }, status: 'running' })],
  ])
})

test.each([
  ['that opens no message is named', 'some notes\nof mine\n', 'bad-json'],
  ['that may be a first line in the making is not there yet', 'use', null],
  ['that is empty is not there yet', '', null],
  ['that is blank is not there yet', ' \n\n', null],
])('a file %s', (_, content, issue) => {
  expect(decode(content)).toEqual({ messages: [], outline: [], issue, hasOnlyControl: false })
})
