import { readFileSync } from 'node:fs'
import { assert, constantFrom, oneof, property, string } from 'fast-check'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import { tokenPieces } from '../../src/text/tokens/token-pieces.ts'
import { countText as count } from '../helpers/estimate-all.ts'

const LONG = 200_000
const hostile: readonly (readonly [name: string, text: string])[] = [
  ['one letter', 'a'.repeat(LONG)],
  ['spaces', ' '.repeat(LONG)],
  ['line ends', '\n'.repeat(LONG)],
  ['alternating tabs and spaces', '\t '.repeat(LONG / 2)],
  ['unspaced Chinese', '数据库连接池'.repeat(LONG / 6)],
  ['digits', '1234567890'.repeat(LONG / 10)],
  ['one mark', '='.repeat(LONG)],
  ['base64', Buffer.from('a line of text that says something. '.repeat(4200)).toString('base64')],
  ['emoji', '😀'.repeat(LONG / 2)],
  ['half a surrogate pair', '\ud83d'.repeat(LONG)],
  ['joined family signs', '👨‍👩‍👧‍👦'.repeat(LONG / 11)],
  ['combining marks', `e${'\u0301'.repeat(LONG)}`],
  ["a tokenizer's own marks", '<|endoftext|>'.repeat(LONG / 13)],
  ['humps', 'getUserName'.repeat(LONG / 11)],
]

test.each(hostile)('200,000 characters of %s are counted quickly', (_, text) => {
  count('a warm tokenizer')
  const before = process.cpuUsage()
  const tokens = count(text)
  const { user, system } = process.cpuUsage(before)
  expect(tokens).toBeGreaterThan(0)
  // Without splitting, one repeated letter takes 55 s.
  expect((user + system) / 1000).toBeLessThan(3000)
})

test('special tokens of a tokenizer count as ordinary text', () => {
  expect(count('before <|endoftext|> after')).toBeGreaterThan(4)
})

test('the pieces cover the text, are short, and split no character', () => {
  const texts = oneof(string({ unit: 'binary', maxLength: 20_000 }), constantFrom(...hostile.map(([, text]) => text)))
  assert(
    property(texts, (text) => {
      const pieces = [...tokenPieces(text)]
      expect(pieces.join('')).toBe(text)
      expect(Math.max(0, ...pieces.map(({ length }) => length))).toBeLessThanOrEqual(4096)
      expect(pieces.every((piece) => piece.isWellFormed())).toBe(text.isWellFormed())
    }),
    { numRuns: 50 },
  )
})

test('every white space character of JavaScript counts as white space', () => {
  const blanks = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter((sign) =>
    /\s/.test(sign),
  )
  expect(blanks.length).toBeGreaterThan(20)
  const longest = (text: string): number => Math.max(...[...tokenPieces(text)].map(({ length }) => length))
  expect(blanks.filter((blank) => longest(`${blank} `.repeat(2000)) > 256)).toEqual([])
})

test.each([
  'README.md',
  'ARCHITECTURE.md',
  'src/daemon/follow/indexing.ts',
  'config/schema.json',
  'package-lock.json',
  'docs/terminal.svg',
])('an ordinary text has the same count as without splitting: %s', (path) => {
  const text = readFileSync(path, 'utf8')
  const plain = countTokens(text)
  expect(Math.abs(count(text) - plain) / plain).toBeLessThan(0.03)
})

test('a text without a long stretch is counted exactly', () => {
  const text = readFileSync('src/daemon/main.ts', 'utf8')
  expect(count(text) - countTokens(text)).toBeLessThanOrEqual(Math.ceil(text.length / 4096))
})
