import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { editDistance } from '../../src/text/nearest-name.ts'
import { stretchesOf, withoutEscapes, withoutOrders } from '../../src/text/passages/stretches.ts'
import { printable, printableJson, printableLine } from '../../src/text/printable.ts'
import { listedModel, modelFamily, modelLabel } from '../../src/model/model-name.ts'
import { casesBeside } from '../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

const codeIn = (text: string): readonly string[] | null =>
  stretchesOf(text)
    ?.filter(({ isCode }) => isCode)
    .map(({ start, end }) => text.slice(start, end)) ?? null

describe('text between fences is code', () => {
  test.each(cases<[what: string, text: string, code: string[]]>('fences'))('%s', (_what, text, code) => {
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

const hostile: readonly [name: string, text: string, shown: string][] =
  cases<[name: string, text: string, shown: string]>('printable')

test.each(hostile)('%s is shown and has no effect', (_, text, shown) => {
  expect(printable(text)).toBe(shown)
})

const order = /[^\t\n\P{Cc}]|\p{Bidi_Control}/u
const anyText = fc.string({ unit: 'binary' })

test('of any text no control character is left, once and for all, also in JSON and in one line', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const shown = printable(text)
      expect(shown).not.toMatch(order)
      expect(printable(shown)).toBe(shown)
      expect(printableLine(text)).not.toMatch(/[\n\t\r]/)
      const json = printableJson({ [text]: [text] })
      expect(JSON.parse(json)).toEqual({ [text]: [text] })
      expect(json).not.toMatch(order)
    }),
  )
})

describe('terminal sequences are removed', () => {
  test.each(cases<[what: string, text: string, expected: string]>('terminal sequences'))('%s', (_, text, expected) => {
    expect(withoutOrders(text)).toBe(expected)
  })
})

describe('JSON escapes are decoded', () => {
  test.each(cases<[what: string, text: string, expected: string]>('JSON escapes'))('%s', (_, text, expected) => {
    expect(withoutEscapes(text)).toBe(expected)
  })
})

test.each(cases<[one: string, other: string]>('same models'))('%s and %s are the same model', (one, other) => {
  expect(modelFamily(one)).toBe(modelFamily(other))
})

test.each(cases<[one: string, other: string]>('different models'))('%s and %s are different models', (one, other) => {
  expect(modelFamily(one)).not.toBe(modelFamily(other))
})

test.each(cases<[name: string, listed: string | null]>('prices'))(
  'the price of %s is looked up as %s',
  (name, listed) => {
    expect(listedModel(name)).toBe(listed)
  },
)

test('an unknown or chosen model is labelled as such', () => {
  expect([modelLabel(null), modelLabel('auto'), modelLabel('gpt-5')]).toEqual([
    'unknown model',
    'auto (chosen by Cursor)',
    'gpt-5',
  ])
})

/** The complete distance table for one pair: letters added, dropped, replaced, or two neighbours swapped. */
function slips(left: string, right: string): number {
  const a = Array.from(left)
  const b = Array.from(right)
  const table = Array.from({ length: a.length + 1 }, (_, i) => b.map((_sign, j) => i + j).concat(i + b.length))
  const at = (i: number, j: number): number => table[i]?.[j] ?? Infinity
  for (let i = 1; i <= a.length; i += 1) {
    for (let j = 1; j <= b.length; j += 1) {
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const row = table[i] ?? []
      row[j] = Math.min(
        at(i - 1, j) + 1,
        at(i, j - 1) + 1,
        at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1),
        isSwap ? at(i - 2, j - 2) + 1 : Infinity,
      )
    }
  }
  return at(a.length, b.length)
}

const sign = fc.constantFrom('a', 'b', 'c', 'd', 'é', '数', '😀', '\ue001', '\uffff')
const word = fc.string({ unit: sign, maxLength: 7 })

test('the distance of two words is that of the table, of an unfinished word from the nearest beginning', () => {
  fc.assert(
    fc.property(word, word, (typed, other) => {
      expect(editDistance(typed, other)).toBe(slips(typed, other))
      const signs = Array.from(other)
      const beginnings = [0, ...signs.map((_, at) => at + 1)].map((length) => signs.slice(0, length).join(''))
      expect(editDistance(typed, other, true)).toBe(Math.min(...beginnings.map((one) => slips(typed, one))))
    }),
    { numRuns: 3000 },
  )
})
