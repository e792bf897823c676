import { array, assert, constantFrom, integer, property } from 'fast-check'
import { expect, test } from 'vitest'
import { displayWidth, wrapPieces } from '../../src/cli/terminal/display-width.ts'
import { ageText } from '../../src/cli/terminal/formats.ts'
import { Paper, run } from './fake-world.ts'

const NOW = '2026-02-20T12:00:00.000Z'
test.each([
  [null, '-'],
  ['2026-02-20T12:00:30.000Z', 'just now'],
  ['2026-02-20T12:30:00.000Z', '2026-02-20 12:30'],
  ['2026-02-20T11:59:01.000Z', 'just now'],
  ['2026-02-20T11:58:59.000Z', '1 minute ago'],
  ['2026-02-20T10:00:00.000Z', '2 hours ago'],
  ['2026-02-12T12:00:00.000Z', '8 days ago'],
  ['2026-02-06T12:00:00.000Z', '2 weeks ago'],
  ['2025-10-20T12:00:00.000Z', '4 months ago'],
  ['2025-02-19T12:00:00.000Z', '1 year ago'],
])('the age of %s is %s', (iso, text) => {
  expect(ageText(iso, { nowMs: Date.parse(NOW), timeZone: 'UTC' })).toBe(text)
})

const words = array(constantFrom('a', 'word', '漢字漢字', '👩‍👩‍👧', 'muchlongerthantheline', 'e\u0301'), { maxLength: 12 })

test('wrapped lines fit the width and lose nothing but spaces', () => {
  assert(
    property(words, words, integer({ min: 2, max: 30 }), (left, right, width) => {
      const pieces = [{ text: `${left.join(' ')} ` }, { text: right.join(' '), paint: (text: string) => text }]
      const lines = wrapPieces(pieces, width)
      const text = pieces.map((piece) => piece.text).join('')
      expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''))
      expect(lines.filter((line) => displayWidth(line) > width)).toEqual([])
    }),
  )
})

test('a line is broken between words, and each part is painted', () => {
  const red = (text: string) => `<${text}>`
  expect(wrapPieces([{ text: '  one two ' }, { text: 'three four', paint: red }], 10)).toEqual([
    '  one two',
    '<three four>',
  ])
  expect(wrapPieces([{ text: 'one' }, { text: 'two three', paint: red }], 7)).toEqual(['one<two>', '<three>'])
})

test('lists show ages and short ids on a terminal, and full times and ids in a pipe', async () => {
  const id = '0b1f2c3d-4e5f-6071-8293-a4b5c6d7e8f9'
  const at = '2026-02-19T12:00:00.000Z'
  const chat = { id, title: 't', project: null, lastActivityAt: at, messageCount: 1 }
  const page = { items: [chat], total: 1 }
  const stdout = new Paper(80)
  await run(['chats', '-n', '1'], () => page, { stdout, env: { NO_COLOR: '1' } })
  expect(stdout.text.split('\n')[1]).toMatch(/^3 days ago .* 0b1f2c3d$/)
  expect((await run(['chats'], () => page)).out).toBe(`2026-02-19 21:00\t-\tt\t1\t${id}\n`)
})
