import { describe, expect, test } from 'vitest'
import { query } from '../../helpers/eras/transcripts.ts'
import { decode, partsOf, text, tool } from './decoded.ts'

const answer = (...words: readonly string[]): string => ['assistant:', ...words, '', ''].join('\n')
const ask = (words: string): string => `user:\n${query(words)}\n\n`
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
    ['[Tool call] Read', '  path=/w/a.ts', '  limit=20'],
    [tool('Read', { input: { path: '/w/a.ts', limit: '20' }, paths: ['/w/a.ts'], status: 'running' })],
  ],
  [
    'arguments with colons',
    ['[Tool call] Shell', '  command: ls -l'],
    [tool('Shell', { input: { command: 'ls -l' }, status: 'running' })],
  ],
  [
    'an argument of several lines',
    ['[Tool call] Write', '  contents=a', '    b', '', '    c'],
    [tool('Write', { input: { contents: 'a\n    b\n\n    c' }, status: 'running' })],
  ],
  [
    'arguments that are JSON',
    ['[Tool call] T', '  {"a":', '   1}'],
    [tool('T', { input: { a: 1 }, status: 'running' })],
  ],
  [
    'arguments in an unknown format',
    ['[Tool call] T', '  a', '  b=c'],
    [tool('T', { input: 'a\nb=c', status: 'running' })],
  ],
  ['a call without arguments', ['[Tool call] T'], [tool('T', { status: 'running' })]],
  [
    'an argument that continues at the left margin, unchanged',
    ['[Tool call] Write', '  path=a.ini', '  contents=[a]', '', 'x = 1', 'key=value', '    path=b', '', '  merge=true'],
    [
      tool('Write', {
        input: { path: 'a.ini', contents: '[a]\n\nx = 1\nkey=value\n    path=b\n', merge: 'true' },
        paths: ['a.ini'],
        status: 'running',
      }),
    ],
  ],
  [
    'arguments that begin with a single separator',
    ['[Tool call] Write', '  contents=interface A {', '  name: string', '}', '  path=a.ts'],
    [
      tool('Write', {
        input: { contents: 'interface A {\n  name: string\n}', path: 'a.ts' },
        paths: ['a.ts'],
        status: 'running',
      }),
    ],
  ],
  [
    'an argument for each name',
    ['[Tool call] Write', '  contents=<a', '  contents="x"', '  />'],
    [tool('Write', { input: { contents: '<a\n  contents="x"\n  />' }, status: 'running' })],
  ],
  [
    'a patch that is glued to the name',
    ['[Tool call] ApplyPatch*** Begin Patch', '*** Update File: a.ts', '@@', ' b', '-c', '+x = 1', '*** End Patch'],
    [
      tool('ApplyPatch', {
        input: '*** Begin Patch\n*** Update File: a.ts\n@@\n b\n-c\n+x = 1\n*** End Patch',
        paths: ['a.ts'],
        status: 'running',
      }),
    ],
  ],
  [
    'text directly after the name, which its result shows',
    ['[Tool call] Shellls -l', '[Tool call] ReadLints', '[Tool result] Shell', '[Tool result] ReadLints'],
    [tool('Shell', { input: 'ls -l' }), tool('ReadLints')],
  ],
  [
    'words that are glued to a name, by the order of the results',
    ['[Tool call] Readme', '[Tool call] ReadLints', '[Tool result] Read', '[Tool result] ReadLints'],
    [tool('Read', { input: 'me' }), tool('ReadLints')],
  ],
  [
    'text directly after a name without a result, if a special character separates them',
    ['[Tool call] Shell{"command":"ls"}', '[Tool call] mcp.a:b-c"x'],
    [
      tool('Shell', { input: { command: 'ls' }, status: 'running' }),
      tool('mcp.a:b-c', { input: '"x', status: 'running' }),
    ],
  ],
  ['words in place of a name', ['[Tool call] "x"'], [tool('unknown', { input: 'x', status: 'running' })]],
  [
    'a whole name, though the result of another begins it',
    ['[Tool call] Read', '[Tool result] Read', '[Tool call] ReadLints'],
    [tool('Read'), tool('ReadLints', { status: 'running' })],
  ],
  [
    'reasoning between calls, at any indent',
    ['a', '[Tool call] T', '  x=1', '[Tool result] T', '', '[Thinking] so', 'on', '[Tool call] T', '  x=2'],
    [
      text('a'),
      tool('T', { input: { x: '1' } }),
      thinking('so\non'),
      tool('T', { input: { x: '2' }, status: 'running' }),
    ],
  ],
  [
    'a result',
    ['[Tool call] T', '', '[Tool result] T', '  a', '    b', '', '  c'],
    [tool('T', { output: 'a\n  b\n\nc' })],
  ],
  ['a result at the margin', ['[Tool call] T', '[Tool result] T', 'a', '  b'], [tool('T', { output: 'a\n  b' })]],
  ['a result that is JSON', ['[Tool call] T', '[Tool result]', '  [1]'], [tool('T', { output: [1] })]],
  [
    'results of calls side by side',
    ['[Tool call] A', '[Tool call] B', '[Tool result] A', '  1 a', '[Tool result] B', '  2 b'],
    [tool('A', { output: '1 a' }), tool('B', { output: '2 b' })],
  ],
  ['a result without a call', ['[Tool result] T', '  a'], [tool('T', { output: 'a' })]],
  ['a result without text, which ends its call', ['[Tool call] T', '[Tool result] T', ''], [tool('T')]],
  [
    'a result whose tool no call has, by their order',
    ['[Tool call] A', '[Tool call] B', '[Tool result] C', '  1 a'],
    [tool('A', { output: '1 a' }), tool('B', { status: 'running' })],
  ],
  ['a mark that is not at the margin', ['a', '  [Thinking] b'], [text('a\n  [Thinking] b')]],
  ['a word that begins like a mark', ['[Thinking]s'], [text('[Thinking]s')]],
  [
    'redacted reasoning, which is left out',
    ['[REDACTED]', '[Thinking] [REDACTED]', '[Tool call] T'],
    [tool('T', { status: 'running' })],
  ],
])('an answer contains %s', (_, words, parts) => {
  expect(partsOf(answer(...words))).toEqual([['assistant', ...parts]])
})

test('a call has ended once another message follows', () => {
  expect(partsOf(`${answer('[Tool call] T')}${answer('a')}`)[0]).toEqual(['assistant', tool('T')])
})

test('a result in a later answer belongs to the call, but not across the next prompt', () => {
  const first = `${answer('[Tool call] T')}${answer('[Tool result] T', '  a')}`
  expect(partsOf(first)).toEqual([['assistant', tool('T', { output: 'a' })]])
  expect(partsOf(`${answer('[Tool call] T')}${ask('b')}${answer('[Tool result] T', '  a')}`)).toEqual([
    ['assistant', tool('T')],
    ['user', text('b')],
    ['assistant', tool('T', { output: 'a' })],
  ])
})

test.each<[string, string[], unknown[]]>([
  ['before the words', ['<think>', 'hm', '</think>', '', 'a'], [thinking('hm'), text('a')]],
  [
    'between them',
    ['a <think>hm</think> b', '<think>so</think>'],
    [text('a'), thinking('hm'), text('b'), thinking('so')],
  ],
  [
    'that never ends',
    ['a', '<think>hm', '', 'so', '[Tool call] T'],
    [text('a'), thinking('hm\n\nso'), tool('T', { status: 'running' })],
  ],
  ['of nothing', ['<think></think>', 'a'], [text('a')]],
  [
    'that is code',
    ['Write `<think>a</think>`:', '```', '<think>b</think>', '```'],
    [text('Write `<think>a</think>`:\n```\n<think>b</think>\n```')],
  ],
  ['that is only spoken of', ['The tag <think> is left out.'], [text('The tag <think> is left out.')]],
])('an answer contains thinking in tags, %s', (_, words, parts) => {
  expect(partsOf(answer(...words))).toEqual([['assistant', ...parts]])
})

test('several prompts follow one another, and one may be only wrapping', () => {
  const wrapping = [
    '<external_links>',
    '### Potters',
    '</external_links>',
    '',
    '<agent_skills>',
    'a',
    '</agent_skills>',
  ]
  const content = `${ask('a')}user:\n${wrapping.join('\n')}\n\nuser:\n${wrapping.join('\n')}\n${query('b')}\n\n${answer('c')}`
  expect(partsOf(content)).toEqual([
    ['user', text('a')],
    ['user', text('b')],
    ['assistant', text('c')],
  ])
  expect(decode(content)).toMatchObject({ issue: null, outline: { length: 4 }, prompts: 2 })
})

describe('a line that looks like a role', () => {
  test('belongs to the prompt while that is open', () => {
    const content = `${ask('a\n\nassistant:\nb\n\nuser:\nc')}${answer('d')}`
    expect(partsOf(content)).toEqual([
      ['user', text('a\n\nassistant:\nb\n\nuser:\nc')],
      ['assistant', text('d')],
    ])
  })

  test.each([
    ['a key of a YAML file', ['```yaml', 'a: 1', '', 'user:', '  name: a', '```']],
    ['a line below another', ['a', 'assistant:', 'user:', 'b']],
    ['only the beginning of a line', ['a', '', 'user: b', '', ' user:', '', 'user: ', 'c']],
  ])('opens no message if it is %s', (_, words) => {
    expect(partsOf(`${answer(...words)}${ask('b')}`)).toEqual([
      ['assistant', text(words.join('\n'))],
      ['user', text('b')],
    ])
  })

  test.each([
    ['the words', ['```', 'a'], text('```\na')],
    ['an argument', ['[Tool call] Write', '  contents=```js', 'a'], tool('Write', { input: { contents: '```js\na' } })],
  ])('opens a message after an unclosed fence in %s', (_, words, part) => {
    expect(partsOf(`${answer(...words)}user:\nb\n\n${answer('c')}`)).toEqual([
      ['assistant', part],
      ['user', text('b')],
      ['assistant', text('c')],
    ])
  })

  test('opens a message after a prompt that was never closed', () => {
    expect(partsOf(`user:\n<user_query>\na\n\n${answer('b')}${ask('c')}`)).toEqual([
      ['user', text('a')],
      ['assistant', text('b')],
      ['user', text('c')],
    ])
  })
})

test('a `user:` line in the arguments of a call opens no message if prompts are tagged', () => {
  const call = answer('[Tool call] Write', '  contents=# Log', '```', 'header', '', 'user:', 'hello', '```')
  const [, written] = partsOf(`${ask('a')}${call}${ask('b')}`)
  expect(written).toEqual([
    'assistant',
    tool('Write', { input: { contents: '# Log\n```\nheader\n\nuser:\nhello\n```' }, status: 'completed' }),
  ])
  expect(partsOf(`user:\na\n\n${call}`).map(([role]) => role)).toEqual(['user', 'assistant', 'user'])
})

test('an answer of very many parts is read', () => {
  const [, , ...parts] = partsOf(`${ask('a')}${answer('<think>a</think>b'.repeat(200_000))}`)[1] ?? []
  expect(parts).toHaveLength(399_999)
})

test('Windows line ends are read', () => {
  const content = `${ask('a\nb')}${answer('c', 'd', '[Tool call] T', '  x=1', '  y=2')}${ask('e')}`.replaceAll(
    '\n',
    '\r\n',
  )
  expect(partsOf(content)).toEqual([
    ['user', text('a\r\nb')],
    ['assistant', text('c\r\nd'), tool('T', { input: { x: '1', y: '2' } })],
    ['user', text('e')],
  ])
})

test.each([
  ['without any message is reported', 'some notes\nof mine\n', 'bad-json'],
  ['that may be an incomplete first line does not count yet', 'use', null],
  ['that is empty does not count yet', '', null],
  ['that is blank does not count yet', ' \n\n', null],
])('a file %s', (_, content, issue) => {
  expect(decode(content)).toEqual({ messages: [], outline: [], issue, hasOnlyControl: false })
})
