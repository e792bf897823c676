import { expect, test } from 'vitest'
import { NO_TOKEN, readTokenRanks } from '../../src/text/tokens/token-ranks.ts'

const listOf = (...tokens: string[]): Buffer =>
  Buffer.from(tokens.map((token, rank) => `${Buffer.from(token).toString('base64')} ${rank}\n`).join(''))

const rankIn = (list: Buffer, count: number, token: string): number => {
  const bytes = Buffer.from(`..${token}..`)
  return readTokenRanks(list, count).rankOf(bytes, 2, bytes.length - 2)
}

test('each token is found by its bytes at any offset, and nothing else is found', () => {
  const tokens = Array.from({ length: 5000 }, (_, index) => index.toString(36))
  const known = readTokenRanks(listOf(...tokens), tokens.length)
  const rankOf = (token: string): number => known.rankOf(Buffer.from(`-${token}`), 1, token.length + 1)
  expect(tokens.map(rankOf)).toEqual(tokens.map((_, rank) => rank))
  expect(['', 'zzzz', '-', '1 '].map(rankOf)).toEqual(Array(4).fill(NO_TOKEN))
})

test('the last line of a list may have no line end', () => {
  expect(rankIn(listOf('a', 'bc').subarray(0, -1), 2, 'bc')).toBe(1)
})

test.each([
  ['a missing rank', 'YQ== 0\nYg== 2\n', 2],
  ['no rank', 'YQ== 0\nYg==\n', 2],
  ['a line without a token', ' 0\n', 1],
  ['an HTML page', '<html>', 1],
])('a list with %s is refused, and the error names the line', (_, list, line) => {
  expect(() => readTokenRanks(Buffer.from(list), 2)).toThrow(`line ${line} is not a token in base64`)
})

test.each([
  ['that was cut at the end of a line', 'YQ== 0\n', 1],
  ['that is empty', '', 0],
])('a list %s is refused', (_, list, found) => {
  expect(() => readTokenRanks(Buffer.from(list), 2)).toThrow(`it has ${found} tokens instead of 2`)
})
