import { array, assert, constantFrom, integer, nat, option, property } from 'fast-check'
import { PassThrough } from 'node:stream'
import pc from 'picocolors'
import { describe, expect, test } from 'vitest'
import { renderBars, sparkline, type Bar } from '../../src/cli/terminal/bars.ts'
import { displayWidth } from '../../src/cli/terminal/display-width.ts'
import { screenOf, type Screen } from '../../src/cli/terminal/screen.ts'

const screen = (width: number | null, { hasBlocks = true, hasColours = false } = {}): Screen => ({
  width,
  colours: pc.createColors(hasColours),
  hasBlocks,
  timeZone: 'UTC',
  nowMs: 0,
})
const bar = (label: string, value: number | null, note = ''): Bar => ({
  label,
  value,
  figure: String(value ?? '-'),
  note,
})

describe('bars', () => {
  test('are aligned, also with wide characters in labels', () => {
    const text = renderBars([bar('shop', 80), bar('家計簿アプリ', 40), bar('👩‍👩‍👧 family', 1), bar('none', 0)], screen(40))
    expect(text.split('\n')).toEqual([
      'shop          80  ' + '█'.repeat(22),
      '家計簿アプリ  40  ' + '█'.repeat(11),
      '👩‍👩‍👧 family      1  ▎',
      'none           0',
      '',
    ])
  })

  test('distinguish unknown from 0, and show the smallest value', () => {
    const lines = renderBars([bar('a', 1_000_000), bar('b', 1), bar('c', 0), bar('d', null)], screen(40)).split('\n')
    expect(lines.slice(1, 4)).toEqual(['b        1  ▏', 'c        0', 'd        -'])
  })

  test('are uncut lines with tabs in a pipe', () => {
    const long = 'x'.repeat(300)
    const text = renderBars([bar(long, 3, '1 error'), bar('b', 2)], screen(null, { hasColours: true }))
    expect(text).toBe(`${long}\t3\t1 error\nb\t2\n`)
  })

  test('are ASCII on a terminal without block characters', () => {
    const text = renderBars([bar('a', 4), bar('b', 2)], screen(40, { hasBlocks: false }))
    // eslint-disable-next-line no-control-regex
    expect(text).toMatch(/^[\u0000-\u007f]*$/)
    expect(text).toContain('#')
  })

  test('always fit the terminal, without control characters', () => {
    const letters = constantFrom('a', '漢', '👩‍👩‍👧', 'e\u0301', ' ', '\u001b[31m', '\n', '\u202e')
    const word = array(letters, { maxLength: 40 }).map((each) => each.join(''))
    const bars = array(
      integer({ min: 0, max: 5_000_000 }).chain((value) =>
        word.chain((label) => word.map((note) => bar(label, value, note))),
      ),
      { maxLength: 8 },
    )
    assert(
      property(bars, integer({ min: 40, max: 140 }), (rows, width) => {
        const lines = renderBars(rows, screen(width)).split('\n')
        expect(lines).toHaveLength(rows.length + 1)
        // eslint-disable-next-line no-control-regex
        return lines.every((line) => displayWidth(line) <= width && !/[\u0000-\u001f\u202e]/.test(line))
      }),
    )
  })
})

describe('a sparkline', () => {
  test('shows 0 as a dot and an unknown value as a gap', () => {
    expect(sparkline([1, 8, 0, null, 4], 20, screen(80))).toBe('▁█· ▄')
    expect(sparkline([0, 0], 20, screen(80))).toBe('··')
  })

  test('adds up neighbours if there are more values than columns', () => {
    expect(sparkline([1, 1, 2, 2, 4, 4], 3, screen(80))).toBe('▂▄█')
  })

  test('fits the width', () => {
    assert(
      property(array(option(nat(1000)), { maxLength: 900 }), integer({ min: 1, max: 120 }), (values, width) => {
        return displayWidth(sparkline(values, width, screen(width))) <= width
      }),
    )
  })

  test('is empty in a pipe', () => {
    expect(sparkline([1, 2, 3], 20, screen(null))).toBe('')
  })
})

describe('blocks are drawn', () => {
  const terminal = Object.assign(new PassThrough(), { isTTY: true, columns: 80 })
  test.each([
    [{ LANG: 'en_US.UTF-8' }, true],
    [{ LANG: 'de_DE.utf8' }, true],
    [{ LANG: 'en_US.UTF-8', LC_ALL: 'C' }, false],
    [{ LANG: 'C', LC_ALL: '' }, false],
    [{}, false],
    [{ OS: 'Windows_NT' }, true],
    [{ LANG: 'en_US.UTF-8', TERM: 'dumb' }, false],
  ])('in %o: %s', (env, expected) => {
    expect(screenOf(terminal, env, () => 'UTC', 0).hasBlocks).toBe(expected)
    expect(screenOf(new PassThrough(), env, () => 'UTC', 0).hasBlocks).toBe(false)
  })
})
