import { describe, expect, test } from 'vitest'
import { call, line, lines, query, said } from '../../helpers/eras/transcripts.ts'
import { decode, partsOf, text, tool } from './decoded.ts'

test.each<[string, unknown, unknown[]]>([
  ['in blocks', line('user', said('a'), said('b')), ['user', text('a'), text('b')]],
  ['as a string', { role: 'user', message: { content: 'a' } }, ['user', text('a')]],
  ['as strings in a list', { role: 'assistant', message: { content: ['a'] } }, ['assistant', text('a')]],
  ['as one block', { role: 'assistant', message: { content: said('a') } }, ['assistant', text('a')]],
  ['in a message that is a string', { role: 'user', message: 'a' }, ['user', text('a')]],
  ['without a message around', { role: 'user', content: [said('a')] }, ['user', text('a')]],
  ['under a role in the message', { message: { role: 'assistant', content: [said('a')] } }, ['assistant', text('a')]],
  ['under a role called type', { type: 'user', message: { content: 'a' } }, ['user', text('a')]],
  [
    'as reasoning',
    line('assistant', { type: 'thinking', thinking: 'hm' }),
    ['assistant', { kind: 'thinking', text: 'hm', durationMs: null }],
  ],
  ['verbatim', line('assistant', said('  a\r\n ')), ['assistant', text('  a\r\n ')]],
  ['beside what was withheld', line('assistant', said('a\n[REDACTED]')), ['assistant', text('a\n[REDACTED]')]],
  ['as an error', { type: 'error', error: 'no luck' }, ['assistant', { kind: 'error', text: 'no luck' }]],
  [
    'as an error in an object',
    { type: 'error', error: { message: 'no luck', code: 7 } },
    ['assistant', { kind: 'error', text: 'no luck' }],
  ],
])('the message is found %s', (_, record, expected) => {
  expect(partsOf(lines(record))).toEqual([expected])
})

describe('the error of a turn is shown', () => {
  const error = { kind: 'error', text: 'no luck' }
  const failed = { type: 'turn_ended', status: 'error', error: 'no luck' }

  test.each<[string, unknown[], unknown[]]>([
    ['with its answer', [line('assistant', said('a')), failed], [['assistant', text('a'), error]]],
    [
      'in place of an answer',
      [line('user', said('q')), failed],
      [
        ['user', text('q')],
        ['assistant', error],
      ],
    ],
    [
      'once',
      [line('user', said('q')), { type: 'error', error: 'no luck' }, failed],
      [
        ['user', text('q')],
        ['assistant', error],
      ],
    ],
    ['and is no chat by itself', [failed, failed], []],
  ])('%s', (_, records, expected) => {
    expect(partsOf(lines(...records))).toEqual(expected)
  })

  test('and shifts no message after it', () => {
    const records = [line('assistant', said('a')), failed, line('user', said('b'))]
    expect(decode(lines(...records)).messages.map(({ id }) => id)).toEqual(['chat/0', 'chat/1'])
  })
})

test('a number that JavaScript would round is exact', () => {
  const row = JSON.stringify(line('assistant', call('query', { id: 'N' }))).replace('"N"', '7318349394477056123')
  expect(partsOf(`${row}\n`)).toEqual([
    ['assistant', tool('query', { status: 'running', input: { id: '7318349394477056123' } })],
  ])
})

test.each([
  ['the end of a turn', { type: 'turn_ended', status: 'success' }],
  ['a line of an unknown kind', { kind: 'other' }],
  ['another role', { role: 'system', message: { content: 'You are' } }],
  ['an error without words', { type: 'error' }],
])('%s is no message and takes no place', (_, record) => {
  const decoded = decode(lines(record, line('user', said('a')), record))
  expect(decoded.messages.map(({ id }) => id)).toEqual(['chat/0'])
  expect(decoded).toMatchObject({ issue: null, hasOnlyControl: false })
  expect(decode(lines(record))).toEqual({ messages: [], outline: [], issue: null, hasOnlyControl: true })
})

test.each([
  ['redacted reasoning alone', line('assistant', said(' [REDACTED]\n'))],
  ['blank text', line('assistant', said(' '))],
  ['a block of an unknown kind', line('assistant', { type: 'image', source: 'inline' })],
  ['no content', { role: 'assistant' }],
])('%s is no message and keeps its place', (_, record) => {
  const decoded = decode(lines(line('user', said('a')), record, line('assistant', said('b'))))
  expect(decoded.messages.map(({ id }) => id)).toEqual(['chat/0', 'chat/2'])
  expect(decoded.outline?.map(({ id }) => id)).toEqual(['chat/0', 'chat/1', 'chat/2'])
  expect(decoded.issue).toBeNull()
})

test('no id, time, model or token is made up', () => {
  expect(decode(lines(line('user', said('a')))).messages).toEqual([
    {
      id: 'chat/0',
      alias: null,
      role: 'user',
      sentAtMs: null,
      startedAtMs: null,
      timingAtMs: null,
      model: null,
      tokens: null,
      parts: [text('a')],
      isSimulated: false,
      octets: 0,
      isEmbedded: true,
    },
  ])
})

describe('a line that cannot be read', () => {
  const whole = lines(line('user', said('a')))

  test.each([
    ['is named in the middle', `${whole}{"role":\n${whole}`, 'bad-json', ['chat/0', 'chat/2']],
    ['is named at the end', `${whole}{"role":\n`, 'bad-json', ['chat/0']],
    ['is reported if it is not an object', `${whole}7\n${whole}`, 'not-an-object', ['chat/0', 'chat/2']],
    ['is not there yet while its end is missing', `${whole}{"role":`, null, ['chat/0']],
    ['does not count yet if it is the only one', '{"role":', null, []],
  ])('%s', (_, content, issue, ids) => {
    const decoded = decode(content)
    expect([decoded.issue, decoded.messages.map(({ id }) => id)]).toEqual([issue, ids])
  })

  test('because it is nested too deep loses only its input', () => {
    const deep = `${'{"a":'.repeat(600)}1${'}'.repeat(600)}`
    const content = `{"role":"assistant","message":{"content":[{"type":"tool_use","name":"T","input":${deep}}]}}\n`
    expect(decode(content).issue).toBe('too-deep')
    expect(partsOf(content)).toEqual([['assistant', tool('T', { status: 'running' })]])
  })
})

test('a last line without a line end counts once it is complete', () => {
  expect(partsOf(lines(line('user', said('a'))).trimEnd())).toEqual([['user', text('a')]])
})

test('Windows line ends, a byte order mark, empty lines and broken bytes do not matter', () => {
  const content = `\uFEFF\r\n${lines(line('user', said('a'))).replace('\n', '\r\n')}\r\n`
  expect(partsOf(content)).toEqual([['user', text('a')]])
  const half = Buffer.concat([
    Buffer.from('{"role":"user","content":"a'),
    Buffer.from([0xff]),
    Buffer.from('\\ud800"}\n'),
  ])
  expect(partsOf(half)).toEqual([['user', text('a\uFFFD\uFFFD')]])
})

describe('a call', () => {
  const patch = '*** Begin Patch\n*** Update File: src/a.ts\n+x\n*** Add File: b.md\n*** End Patch'

  test.each([
    ['keeps its input', call('Shell', { command: 'ls' }), tool('Shell', { input: { command: 'ls' } })],
    [
      'names its paths',
      call('Read', { path: '/w/a.ts' }),
      tool('Read', { input: { path: '/w/a.ts' }, paths: ['/w/a.ts'] }),
    ],
    [
      'keeps an input that is text',
      call('ApplyPatch', patch),
      tool('ApplyPatch', { input: patch, paths: ['src/a.ts', 'b.md'] }),
    ],
    [
      'names the paths of a patch within its input',
      call('ApplyPatch', { patch }),
      tool('ApplyPatch', { input: { patch }, paths: ['src/a.ts', 'b.md'] }),
    ],
    ['reads an input that is JSON in text', call('T', '{"a":1}'), tool('T', { input: { a: 1 } })],
    ['keeps its id', { ...call('T', null), id: 'call-1' }, tool('T', { callId: 'call-1' })],
    ['stays a call without a name', { type: 'tool_use' }, tool('unknown')],
  ])('%s', (_, block, expected) => {
    const content = lines(line('assistant', block), line('assistant', said('done')))
    expect(partsOf(content)[0]).toEqual(['assistant', expected])
  })

  const one = line('assistant', call('One', null))
  const both = line('assistant', said('I look.'), call('One', null), call('Two', null))

  test.each<[string, unknown[], string[]]>([
    ['runs while nothing follows', [one], ['running']],
    ['runs beside its neighbours', [both], ['running', 'running']],
    ['is over once an answer follows', [one, line('assistant', said('a'))], ['completed']],
    ['is over once another call follows', [one, both], ['completed', 'running', 'running']],
    ['is over at the end of its turn', [one, { type: 'turn_ended', status: 'success' }], ['completed']],
    ['is cut off by an abort', [one, { type: 'turn_ended', status: 'aborted' }], ['cancelled']],
    ['is cut off by an error', [one, { type: 'error', error: 'no' }], ['cancelled']],
    ['is not judged by a strange line', [one, { kind: 'other' }], ['running']],
    [
      'is not cut off by an abort after an answer',
      [one, line('assistant', said('a')), { type: 'turn_ended', status: 'aborted' }],
      ['completed'],
    ],
  ])('%s', (_, records, statuses) => {
    const parts = partsOf(lines(...records)).flatMap(([, ...rest]) => rest)
    expect(parts.flatMap((part) => (part.kind === 'tool' ? [part.status] : []))).toEqual(statuses)
  })
})

test('the time in a prompt is the time of its message', () => {
  const stamped = `<timestamp>Tuesday, Jun 2, 2026, 11:20 AM (UTC+8)</timestamp>\n${query('a')}`
  const [first] = decode(lines(line('user', said(stamped)))).messages
  expect(first).toMatchObject({ sentAtMs: Date.UTC(2026, 5, 2, 3, 20), parts: [text('a')] })
})

test('attachments follow the text', () => {
  const wrapped = `<image_files>\n1. /tmp/chart.png\n</image_files>\n${query('See')}`
  expect(partsOf(lines(line('user', said(wrapped))))).toEqual([
    ['user', text('See'), { kind: 'attachment', path: '/tmp/chart.png', text: null }],
  ])
})
