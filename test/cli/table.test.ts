import { array, assert, constantFrom, integer, nat, property, string } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { displayWidth, fitting, fittingEnd } from '../../src/cli/terminal/display-width.ts'
import { snippetSpans } from '../../src/cli/terminal/highlight.ts'
import type { Screen } from '../../src/cli/terminal/screen.ts'
import { renderTable } from '../../src/cli/terminal/table.ts'
import pc from 'picocolors'

const screen = (width: number | null, hasColours = false): Screen => ({
  width,
  colours: pc.createColors(hasColours),
  hasBlocks: true,
  timeZone: 'UTC',
  nowMs: 0,
})

const columns = [{ title: 'name', widthMin: 4 }, { title: 'n', align: 'right' as const }, { title: 'id' }]

test.each([
  ['abc', 3],
  ['漢字', 4],
  ['ｱｲｳ', 3],
  ['한글', 4],
  ['👩‍👩‍👧', 2],
  ['✔️', 2],
  ['e\u0301', 1],
  ['a\u200bb', 2],
  ['🇩🇪', 2],
  ['…', 1],
])('%s takes %d columns', (text, width) => {
  expect(displayWidth(text)).toBe(width)
})

test('the cut text fits the width and ends between letters', () => {
  const unit = constantFrom('a', '漢', '👩‍👩‍👧', 'e\u0301', ' ')
  assert(
    property(array(unit), nat(20), (letters, room) => {
      const line = letters.join('')
      const [start, end] = [fitting(line, room), fittingEnd(line, room)]
      expect(line.startsWith(start) && line.endsWith(end)).toBe(true)
      return displayWidth(start) <= room && displayWidth(end) <= room && !start.endsWith('\u200d')
    }),
  )
})

test('a pipe gets uncut cells with tabs, without head and padding', () => {
  const rows = [
    ['a\tb\nc', '1', 'x'.repeat(300)],
    ['\u001b[2J', '20', ''],
  ]
  expect(renderTable(columns, rows, screen(null))).toBe(`a b c\t1\t${'x'.repeat(300)}\n\\x1b[2J\t20\t\n`)
})

test('a terminal gets a head and aligned columns, also with wide characters', () => {
  const rows = [
    ['漢字', '1', 'x'],
    ['plain', '200', 'y'],
  ]
  expect(renderTable(columns, rows, screen(80))).toBe('name     n  id\n漢字     1  x\nplain  200  y\n')
})

test('a narrow terminal cuts other columns, but never the id', () => {
  const id = '0123456789abcdef'
  const lines = renderTable(columns, [['a long name that has no room', '1', id]], screen(30)).split('\n')
  expect(lines[1]).toBe(`a long n…  1  ${id}`)
  const tight = renderTable(columns, [['a long name that has no room', '1', id.repeat(2)]], screen(30)).split('\n')
  expect(tight[1]).toBe(`a l…  1  ${id.repeat(2)}`)
})

test('a cut snippet still shows its first hit', () => {
  const snippet = `${'before '.repeat(20)}<mark>needle</mark>${' after'.repeat(20)}`
  const table = renderTable([{ title: 'text', widthMin: 10 }], [[snippetSpans(snippet)]], screen(40))
  const [, line = ''] = table.split('\n')
  expect(line).toMatch(/^….*before needle after.*…$/)
  expect(displayWidth(line)).toBeLessThanOrEqual(40)
})

test('rows fit the terminal as long as columns can be cut', () => {
  const cell = string({ unit: 'grapheme', maxLength: 60 })
  assert(
    property(cell, cell, integer({ min: 40, max: 100 }), (left, right, width) => {
      const two = [
        { title: 'a', widthMin: 4 },
        { title: 'b', widthMin: 4 },
      ]
      const spans = [
        { text: right, isHit: false },
        { text: left, isHit: true },
      ]
      const lines = renderTable(two, [[left, spans]], screen(width)).split('\n')
      expect(lines.filter((line) => displayWidth(line) > width)).toEqual([])
    }),
  )
})

describe('a snippet', () => {
  test.each([
    ['&lt;mark&gt;x&lt;/mark&gt; &amp;amp; &quot;&#39;&#x27;', "<mark>x</mark> &amp; \"''"],
    ['&unknown; & &#99999999; &#x110000;', '&unknown; & &#99999999; &#x110000;'],
    ['&#27;[2J<mark>&#x9b;</mark>', '\\x1b[2J\\x9b'],
    ['</mark><mark>open', 'open'],
  ])('%j is unescaped once, then made printable', (snippet, shown) => {
    expect(renderTable([{ title: '' }], [[snippetSpans(snippet)]], screen(null))).toBe(`${shown}\n`)
  })
})
