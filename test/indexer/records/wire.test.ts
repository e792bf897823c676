import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { bytesIn, numberAt, readWire, type WireField } from '../../../src/indexer/sources/records/json/wire.ts'
import { bytesField, numberField } from '../../../src/sample/cli-store.ts'

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

test.each<[string, number[], readonly WireField[] | null]>([
  [
    'numbers of a fixed width are passed over',
    [0x0d, 1, 2, 3, 4, 0x11, 1, 2, 3, 4, 5, 6, 7, 8, 0x18, 5],
    [{ number: 3, value: 5 }],
  ],
  ['one that is cut off is no message', [0x0d, 1, 2, 3], null],
  [
    'a number beyond the exact ones is the greatest of them',
    [0x08, ...Array.from({ length: 9 }, () => 0xff), 1],
    [{ number: 1, value: Number.MAX_SAFE_INTEGER }],
  ],
  ['a number without an end is no message', [0x08, ...Array.from({ length: 11 }, () => 0xff)], null],
  ['a field without a number is no message', [0x00, 1], null],
  ['the marks of a group are no message', [0x0b, 0x0c], null],
  ['a length beyond the end is no message', [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f, 1], null],
  ['nothing is a message without fields', [], []],
])('%s', (_, given, fields) => {
  expect(readWire(Buffer.from(given))).toEqual(fields)
})

test('of a repeated field all bytes count, and the last number', () => {
  const twice = [bytesField(1, Buffer.from('a')), numberField(1, 7), bytesField(1, Buffer.from('b')), numberField(1, 8)]
  const fields = readWire(Buffer.concat(twice)) ?? []
  expect(bytesIn(fields, 1).map(String)).toEqual(['a', 'b'])
  expect([numberAt(fields, 1), numberAt(fields, 2)]).toEqual([8, null])
})
