import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseExactly, readTimestamp } from '../../../src/indexer/sources/records/json.ts'
import { bytesIn, numberAt, readWire, type WireField } from '../../../src/indexer/sources/records/conversation-state.ts'
import { unwrapPrompt } from '../../../src/indexer/sources/records/unwrap-prompt.ts'
import { casesBeside } from '../../helpers/cases.ts'
import { startCpuClock } from '../../helpers/cpu-time.ts'
import { bytesField, numberField } from '../../helpers/cursor.ts'
import { query } from '../../helpers/eras/transcripts.ts'

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

test.each(cases<[string, string, string[]]>('texts'))('%s', (_, given, texts) => {
  expect(unwrapPrompt(given).texts).toEqual(texts)
})

test.each(cases<[string, string, string[]]>('paths'))('the paths of %s are read', (_, wrapper, paths) => {
  expect(unwrapPrompt(`${wrapper}\n${query('a')}`).paths).toEqual(paths)
})

test('a hostile nest of tags takes no time', () => {
  const cpuMs = startCpuClock()
  for (const unit of ['<a>', '</user_query><a>', '<user_query>', '<a></a>', '[Image]', ' path="', '<a ']) {
    unwrapPrompt(`<user_query>${unit.repeat(200_000)}`)
    unwrapPrompt(`<attached_files>${unit.repeat(200_000)}</attached_files>${unit.repeat(1000)}`)
  }
  expect(cpuMs()).toBeLessThan(5000)
})

test.each(cases<[string, number]>('times'))('%s is a time', (given, atMs) => {
  expect(readTimestamp(` ${given}\n`)).toBe(atMs)
})

test.each(cases<string>('no certain times'))('"%s" is no certain time', (given) => {
  expect(readTimestamp(given)).toBeNull()
})
