import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { bytesIn, numberAt, readWire, type WireField } from '../../../src/indexer/sources/records/json/wire.ts'
import { bytesField, numberField } from '../../helpers/cursor.ts'
import { casesBeside } from '../../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

const number = fc.integer({ min: 1, max: 2 ** 29 - 1 })
const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array))
const field: fc.Arbitrary<WireField> = fc.oneof(
  fc.record({ number, value: bytes }),
  fc.record({ number, value: fc.maxSafeNat() }),
)
const encode = ({ number: at, value }: WireField): Buffer =>
  typeof value === 'number' ? numberField(at, value) : bytesField(at, value)

test('the fields that were written are read', () => {
  fc.assert(
    fc.property(fc.array(field, { maxLength: 20 }), (fields) => {
      expect(readWire(Buffer.concat(fields.map(encode)))).toEqual(fields)
    }),
  )
})

test('any bytes give fields within them, or null', () => {
  fc.assert(
    fc.property(bytes, (given) => {
      const fields = readWire(given) ?? []
      const isWithin = ({ value }: WireField): boolean =>
        typeof value === 'number' ? Number.isSafeInteger(value) && value >= 0 : given.includes(value)
      expect(fields.filter((each) => each.number < 1 || !isWithin(each))).toEqual([])
    }),
    { numRuns: 2000 },
  )
})

test('a message that ends within a field is invalid', () => {
  const whole = Buffer.concat([numberField(1, 300), bytesField(2, Buffer.from('abc'))])
  const lengths = Array.from({ length: whole.length + 1 }, (_, length) => length)
  const read = lengths.filter((length) => readWire(whole.subarray(0, length)) !== null)
  expect(read).toEqual([0, 3, whole.length])
})

test.each(cases<[string, number[], readonly WireField[] | null]>('fields'))('%s', (_, given, fields) => {
  expect(readWire(Buffer.from(given))).toEqual(fields)
})

test('of a repeated field all bytes count, and the last number', () => {
  const twice = [bytesField(1, Buffer.from('a')), numberField(1, 7), bytesField(1, Buffer.from('b')), numberField(1, 8)]
  const fields = readWire(Buffer.concat(twice)) ?? []
  expect(bytesIn(fields, 1).map(String)).toEqual(['a', 'b'])
  expect([numberAt(fields, 1), numberAt(fields, 2)]).toEqual([8, null])
})
