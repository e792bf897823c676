import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseExactly } from '../../../src/indexer/sources/records/json/exact-json.ts'
import { casesBeside } from '../../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

test.each(cases<[text: string, value: unknown]>('exact numbers'))('a number in %s is exact', (text, value) => {
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
