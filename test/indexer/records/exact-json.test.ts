import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseExactly } from '../../../src/indexer/sources/records/json/exact-json.ts'

test.each<[text: string, value: unknown]>([
  ['{"id":7318349394477056123}', { id: '7318349394477056123' }],
  ['[-9007199254740993 , 9007199254740992]', ['-9007199254740993', 9007199254740992]],
  ['[1e400,-1E+999,1e300]', ['1e400', '-1E+999', 1e300]],
  ['[1.10,0.25,12345678901234567890.5]', [1.1, 0.25, '12345678901234567890.5']],
  [
    String.raw`{"\\":"7318349394477056123\"1e400","9\\\"7318349394477056123":[1,7318349394477056123,"x\\"]}`,
    { '\\': '7318349394477056123"1e400', '9\\"7318349394477056123': [1, '7318349394477056123', 'x\\'] },
  ],
  ['7318349394477056123', '7318349394477056123'],
])('a number in %s is exact', (text, value) => {
  expect(parseExactly(text)).toEqual({ value })
})

test('everything else is parsed as usual', () => {
  const large = fc.bigInt(2n ** 53n, 2n ** 70n)
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), large, (json, number) => {
      const held = JSON.parse(json) as unknown
      expect(parseExactly(json)).toEqual({ value: held })
      const isSame = String(Number(number)) === String(number)
      expect(parseExactly(`[${json},${number}]`)).toEqual({ value: [held, isSame ? Number(number) : String(number)] })
    }),
  )
})

test('invalid JSON is null', () => {
  expect(parseExactly('{"id":7318349394477056123')).toBeNull()
})
