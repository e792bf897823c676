import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { array, assert, constantFrom, integer, property } from 'fast-check'
import pc from 'picocolors'
import { afterAll, describe, expect, test } from 'vitest'
import { paintedSnippet } from '../../src/cli/commands/search.ts'
import { cutTo, displayWidth, wrapLine } from '../../src/cli/terminal/text.ts'
import { openPager, PipeClosed, type Screen } from '../../src/cli/terminal/screen.ts'
import { renderRows, type RowColumn } from '../../src/cli/terminal/table.ts'

const screen = (width: number | null): Screen => ({
  width,
  height: Infinity,
  colours: pc.createColors(false),
  timeZone: 'UTC',
  nowMs: 0,
})

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

const letter = constantFrom('a', 'word ', '漢', '👩‍👩‍👧', 'e\u0301', ' ', '\u001b[31m', '\n', '\u202e')
const text = array(letter, { maxLength: 40 }).map((each) => each.join(''))
const width = integer({ min: 40, max: 140 })

/** No line is too wide, or has a character that moves the cursor. */
function expectFit(printed: string, columns: number): void {
  expect(printed).not.toMatch(/[^\n\P{Cc}]|\p{Bidi_Control}/u)
  expect(printed.split('\n').filter((line) => displayWidth(line) > columns)).toEqual([])
}

test('any table fits the terminal', () => {
  assert(
    property(text, text, width, (left, right, room) => {
      const columns = [left, right, 'c1'].map((cell) => ({ title: 'a', widthMin: 4, read: () => cell }))
      expectFit(renderRows(columns, [0], screen(room)), room)
    }),
  )
})

test('a cut text ends between letters, and wrapped lines lose nothing but spaces', () => {
  const words = array(constantFrom('a', 'word', '漢字漢字', '👩‍👩‍👧', 'muchlongerthantheline'), { maxLength: 12 })
  assert(
    property(words, integer({ min: 2, max: 30 }), (given, room) => {
      const line = pc.createColors(true).cyan(given.join(' '))
      const [cut, wrapped] = [cutTo(line, room), wrapLine(line, room)]
      const plain = stripVTControlCharacters(cut).replace(/…$/, '')
      expect(given.join(' ').startsWith(plain) && !plain.endsWith('\u200d')).toBe(true)
      expect(stripVTControlCharacters(wrapped.join('')).replaceAll(' ', '')).toBe(given.join(''))
      for (const each of [cut, ...wrapped]) expect(displayWidth(each)).toBeLessThanOrEqual(room)
    }),
  )
  expect(wrapLine('  return a + b', 10)).toEqual(['  return a', '  + b'])
})

test('a narrow terminal cuts other columns but never the id', () => {
  const id = '0123456789abcdef'
  const columns: readonly RowColumn<unknown>[] = [
    { title: 'name', widthMin: 4, read: () => 'a long name that has no room' },
    { title: 'n', align: 'right', read: () => 1 },
    { title: 'id', read: () => id },
  ]
  const [, line] = renderRows(columns, [0], screen(30)).split('\n')
  expect(line).toBe(`a long n…  1  ${id}`)
})

test.each([
  ['&lt;mark&gt;x&lt;/mark&gt; &amp;amp; &quot;&#39;', '<mark>x</mark> &amp; "\''],
  ['&unknown; & \u001b[2J<mark>\u009b</mark>', '&unknown; & \\x1b[2J\\x9b'],
  ['</mark><mark>open', 'open'],
])('the snippet %j is unescaped once, then made printable', (snippet, shown) => {
  expect(paintedSnippet(snippet, (hit) => hit)).toBe(shown)
})

describe('the pager', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cursordex-pager-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const script = (name: string, lines: string): string => {
    const path = join(folder, name)
    writeFileSync(path, `#!/bin/sh\n${lines}\n`)
    chmodSync(path, 0o755)
    return path
  }

  test('receives everything, and is waited for', async () => {
    const target = join(folder, 'out')
    const slow = script('slow', 'cat > "$1"; sleep 0.1; echo "$LESS" >> "$1"')
    const pager = await openPager({ ...process.env, PAGER: `${slow} ${target}` })
    await pager?.print('one\n')
    await pager?.print('two\n')
    await pager?.close()
    expect(readFileSync(target, 'utf8')).toBe('one\ntwo\nFRX\n')
  })

  test('that is left early ends the output', async () => {
    const pager = await openPager({ ...process.env, PAGER: script('gone', 'exit 0') })
    const printMuch = async () => {
      for (let count = 0; count < 1000; count += 1) await pager?.print('x'.repeat(10_000))
    }
    await expect(printMuch()).rejects.toThrow(PipeClosed)
    await pager?.close()
  })

  test.each(['', 'cat', '/nonexistent/pager'])('PAGER=%j means no pager', async (name) => {
    expect(await openPager({ PAGER: name })).toBe(null)
  })
})
