import { expect, test } from 'vitest'
import { query } from '../../helpers/eras/transcripts.ts'
import { decode, partsOf, text, tool } from './decoded.ts'

const list = (...entries: readonly unknown[]): string => JSON.stringify(entries, null, 2)
const asks = (words: string) => ({ role: 'user', text: query(words) })
const calls = (...toolCalls: readonly unknown[]) => ({ role: 'assistant', text: '', toolCalls })
const call = (toolName: string, args: unknown) => ({ toolName, args })
const result = (toolResult: unknown) => ({ role: 'tool', toolResult })

test('prompts and answers are read, and a result is no message', () => {
  const content = list(
    asks('a'),
    { role: 'assistant', text: 'b', toolCalls: [call('Read', { path: '/w/a.ts' })] },
    result({ toolName: 'Read' }),
    { role: 'assistant', text: '<think>hm</think>\nc' },
  )
  expect(partsOf(content)).toEqual([
    ['user', text('a')],
    ['assistant', text('b'), tool('Read', { input: { path: '/w/a.ts' }, paths: ['/w/a.ts'] })],
    ['assistant', { kind: 'thinking', text: 'hm', durationMs: null }, text('c')],
  ])
  expect(decode(content)).toMatchObject({ issue: null, outline: { length: 3 } })
})

test('text that looks like a role or a mark stays text', () => {
  const words = 'user:\n\nassistant:\n\n[Tool call] T'
  expect(partsOf(list({ role: 'assistant', text: words }))).toEqual([['assistant', text(words)]])
})

test('an entry of another role is no message and takes no place', () => {
  const decoded = decode(list({ role: 'system', text: 'x' }, asks('a')))
  expect(decoded).toMatchObject({ issue: null, messages: [{ id: 'chat/0' }] })
})

test('the format is recognised by the content, whatever precedes it', () => {
  expect(partsOf(`\uFEFF \n${list(asks('a'))}`)).toEqual([['user', text('a')]])
})

test('results belong to the calls of their tool, in order, and never to calls before the last prompt', () => {
  const content = list(
    calls(call('A', 0)),
    asks('a'),
    calls(call('A', '{"x":1}'), call('B', null), call('A', 'plain')),
    result({ toolName: 'B', result: 'b' }),
    result({ toolName: 'A', result: 'a1', isError: false }),
    { ...result({ toolName: 'A' }), text: 'a2' },
    result({ toolName: 'C', output: ['alone'] }),
    result({ toolName: 'C' }),
  )
  expect(partsOf(content)).toEqual([
    ['assistant', tool('A', { input: 0 })],
    ['user', text('a')],
    [
      'assistant',
      tool('A', { input: { x: 1 }, output: { result: 'a1', isError: false } }),
      tool('B', { output: 'b' }),
      tool('A', { input: 'plain', output: 'a2' }),
    ],
    ['assistant', tool('C', { output: ['alone'] })],
  ])
})

test.each([
  ['has ended once it has a result', [result({ toolName: 'T' })], 'completed'],
  ['runs while nothing follows', [], 'running'],
])('a call %s', (_, after, status) => {
  expect(decode(list(calls(call('T', null)), ...after)).messages[0]?.parts).toMatchObject([{ status }])
})

const deep = `${'['.repeat(600)}${']'.repeat(600)}`

test.each([
  ['no object', [7], 'not-an-object'],
  ['no role', [{ text: 'x' }], 'unknown-shape'],
  ['a role that is not a string', [{ role: 7, text: 'x' }], 'unknown-shape'],
  ['a text that is not a string', [{ role: 'user', text: ['x'] }], 'unknown-shape'],
  ['calls that are not a list', [{ role: 'assistant', text: '', toolCalls: { toolName: 'T' } }], 'unknown-shape'],
  ['a call that is not an object', [calls('T')], 'unknown-shape'],
  ['arguments that are too deep', [calls(call('T', deep))], 'too-deep'],
  ['a result that is too deep', [result({ toolName: 'T', result: deep })], 'too-deep'],
  ['several of these', [null, { role: 1 }], 'not-an-object'],
])('an entry with %s is one issue, and the other entries are read', (_, entries, issue) => {
  const decoded = decode(list(asks('a'), ...entries, asks('b')))
  expect(decoded.issue).toBe(issue)
  const texts = decoded.messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])),
  )
  expect(texts).toEqual(['a', 'b'])
})

test.each([
  ['of other things', '[1, {"a": 2}]', 'unknown-shape'],
  ['that is cut off', '[{"role":"user","te', 'bad-json'],
  ['of nothing', '[]', null],
])('a list %s gives no message', (_, content, issue) => {
  expect(decode(content)).toMatchObject({ messages: [], issue })
})

test('text that only begins like a list is read as text', () => {
  expect(partsOf(`[a note]\n\nuser:\n${query('a')}\n`)).toEqual([['user', text('a')]])
})

const strange = [null, 7, true, '', 'x', [], {}, [[]], [{}], { a: { b: 1 } }, deep]
const whole = { ...calls(call('T', { a: 1 })), toolResult: { toolName: 'T' } }

test.each(['role', 'text', 'toolCalls', 'toolResult'])(
  'a field %s of any type does not affect other entries',
  (field) => {
    for (const role of ['user', 'assistant', 'tool']) {
      for (const value of strange) {
        const { messages } = decode(list(asks('a'), { ...whole, role, [field]: value }, asks('b')))
        expect(messages.map(({ id }) => id)).toEqual(expect.arrayContaining(['chat/0']))
        expect(messages.at(-1)?.parts).toEqual([text('b')])
      }
    }
  },
)

test.each(['toolName', 'args'])('a field %s of a call of any type does not lose the call', (field) => {
  for (const value of strange) {
    expect(partsOf(list(calls({ ...call('T', null), [field]: value }))).flat()).toMatchObject([
      'assistant',
      { kind: 'tool' },
    ])
  }
})
