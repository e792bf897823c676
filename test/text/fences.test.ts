import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stretchesOf } from '../../src/text/passages/fences.ts'

const lines = (...all: string[]): string => all.join('\n')
const codeIn = (text: string): readonly string[] | null =>
  stretchesOf(text)
    ?.filter(({ isCode }) => isCode)
    .map(({ start, end }) => text.slice(start, end)) ?? null

describe('text between fences is code', () => {
  test.each([
    ['a block', lines('so:', '```ts', 'a()', '```', 'done'), ['```ts\na()\n```']],
    ['two blocks', lines('```', 'a', '```', 'and', '~~~', 'b', '~~~'), ['```\na\n```', '~~~\nb\n~~~']],
    ['a block in a list', lines('- so', '    ```', '    a', '    ```'), ['    ```\n    a\n    ```']],
    ['a longer fence around a shorter', lines('````md', '```', 'a', '```', '````', 'b'), ['````md\n```\na\n```\n````']],
    ['other signs within', lines('```', '~~~', '```'), ['```\n~~~\n```']],
    ['a fence with words does not close', lines('```', 'a', '```ts', 'b', '```'), ['```\na\n```ts\nb\n```']],
    ['a message that is still being written', lines('so:', '```ts', 'a('), ['```ts\na(']],
    ['a line of its own', lines('so', '```a()```', 'b'), ['```a()```']],
    ['a line as far as it is closed', lines('so', '```a()``` is b', 'c'), ['```a()```']],
    [
      'a block on the line of a list item',
      lines('- ```sh', '  a', '  ```', '1. ```', 'b', '```'),
      ['- ```sh\n  a\n  ```', '1. ```\nb\n```'],
    ],
    ['a block in a quote', lines('> ```', '> a', '> ```', 'b'), ['> ```\n> a\n> ```']],
    ['a fence taken out of a text within', lines('```diff', '-```', ' a', '```'), ['```diff\n-```\n a\n```']],
    ['line ends of another system', 'so\r\n```\r\na\r\n```\r\nb', ['```\r\na\r\n```\r']],
  ])('%s', (_what, text, code) => {
    expect(codeIn(text)).toEqual(code)
  })

  test.each(['plain', 'in ```one``` line', 'a ~~~ b', '``two``', ''])('no fence: %j', (text) => {
    expect(stretchesOf(text)).toBeNull()
  })

  test('the stretches cover all of a text, in order', () => {
    const piece = fc.constantFrom('```', '~~~', '````', '\n', ' ', 'a', 'ts', '\r\n', '`', '世')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = pieces.join('')
        const stretches = stretchesOf(text) ?? [{ start: 0, end: text.length, isCode: false }]
        expect(stretches.map(({ start, end }) => text.slice(start, end)).join('')).toBe(text)
        expect(stretches.every(({ start, end }) => end > start) || text === '').toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  // Characters at which a line begins for a regular expression, and characters that it treats as blanks.
  test.each(['\r', '\u2028', '\u2029', '\r' + ' '.repeat(60), '\n' + ' '.repeat(60), '> ', '- '])(
    'a very long text of %j beside a fence is read quickly',
    (piece) => {
      const text = `\`\`\`\na\n\`\`\`\n${piece.repeat(Math.ceil(2_000_000 / piece.length))}end`
      expect(stretchesOf(text)).toHaveLength(2)
    },
  )

  test('a text of only fences is scanned once', () => {
    const text = '```a\n'.repeat(200_000)
    expect(stretchesOf(text)).toEqual([{ start: 0, end: text.length, isCode: true }])
    expect(stretchesOf('```\n'.repeat(200_000))).toHaveLength(200_000)
  })
})
