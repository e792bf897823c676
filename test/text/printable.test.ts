import { assert, property, string } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { printable, printableJson, printableLine } from '../../src/text/printable.ts'

const hostile: readonly [name: string, text: string, shown: string][] = [
  ['OSC 52, which fills the clipboard', '\u001b]52;c;cm0gLXJm\u0007', '\\x1b]52;c;cm0gLXJm\\x07'],
  ['OSC 8, which hides where a link leads', '\u001b]8;;http://a\u001b\\b', '\\x1b]8;;http://a\\x1b\\b'],
  ['CSI as one byte', '\u009b2J', '\\x9b2J'],
  ['a carriage return, which overwrites the line', 'good\rbad', 'good\\x0dbad'],
  ['backspaces', 'rm\b\bls', 'rm\\x08\\x08ls'],
  ['NUL, DEL and the last of C1', '\u0000\u007f\u009f', '\\x00\\x7f\\x9f'],
  ['a right-to-left override', 'a\u202eb\u202c', 'a\\u202eb\\u202c'],
  ['line breaks of Unicode', 'a\u2028b\u2029c', 'a\\u2028b\\u2029c'],
  ['isolates and marks', '\u2066\u2069\u200e\u200f\u061c', '\\u2066\\u2069\\u200e\\u200f\\u061c'],
  ['tab and line feed, which stay', 'a\tb\nc', 'a\tb\nc'],
  ['letters of many scripts, which stay', 'äöü 漢字 ไทย 👩‍👩‍👧 עברית', 'äöü 漢字 ไทย 👩‍👩‍👧 עברית'],
]

test.each(hostile)('%s is shown and has no effect', (_, text, shown) => {
  expect(printable(text)).toBe(shown)
})

const order = /[^\t\n\P{Cc}]|\p{Bidi_Control}/u
const anyText = string({ unit: 'binary' })

describe('for any text', () => {
  test('no control character is left', () => {
    assert(
      property(anyText, (text) => {
        expect(printable(text)).not.toMatch(order)
      }),
    )
  })
  test('making it printable twice changes nothing more', () => {
    assert(
      property(anyText, (text) => {
        expect(printable(printable(text))).toBe(printable(text))
      }),
    )
  })
  test('printableLine gives one line', () => {
    assert(
      property(anyText, (text) => {
        expect(printableLine(text)).not.toMatch(/[\n\t\r]/)
      }),
    )
  })
  test('its JSON has the same value and no control character', () => {
    assert(
      property(anyText, (text) => {
        const json = printableJson({ [text]: [text] })
        expect(JSON.parse(json)).toEqual({ [text]: [text] })
        expect(json).not.toMatch(order)
      }),
    )
  })
})
