import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { unpackAsFar } from '../../src/engine/purge/unpack-as-far.ts'

const lines = (name: string): string => `${name}: ${randomBytes(300).toString('hex')}\n`
const [first, second, third] = [lines('first'), lines('second'), lines('third')]
const members = [first, second, third].map((text) => gzipSync(text))
const packed = Buffer.concat(members)
const [start = 0, middle = 0] = members.map(({ length }) => length)

function unpacked(change: (bytes: Buffer) => Buffer | void): { text: string; isWhole: boolean } {
  const bytes = Buffer.from(packed)
  const { pieces, isWhole } = unpackAsFar(change(bytes) ?? bytes)
  return { text: Buffer.concat(pieces).toString(), isWhole }
}

test('a file that is sound is unpacked whole', () => {
  expect(unpacked(() => undefined)).toEqual({ text: first + second + third, isWhole: true })
})

test('a checksum that is damaged costs nothing', () => {
  const damaged = unpacked((bytes) => void bytes.writeUInt32LE(7, start - 8))
  expect(damaged).toEqual({ text: first + second + third, isWhole: false })
})

test('a member that begins otherwise costs itself', () => {
  expect(unpacked((bytes) => void (bytes[start] = 0))).toEqual({ text: first + third, isWhole: false })
})

test('bytes that are damaged cost what follows in their member', () => {
  const { text, isWhole } = unpacked((bytes) => void bytes.fill(0xff, start + middle - 60, start + middle - 20))
  expect(text.startsWith(`${first}${second.slice(0, 100)}`)).toBe(true)
  expect([text.endsWith(third), isWhole]).toEqual([true, false])
})

test('what is no gzip at all unpacks to nothing', () => {
  expect(unpacked(() => Buffer.from([0x1f, 0x8b, 1, 2, 3]))).toEqual({ text: '', isWhole: false })
})

test('a file that is cut off is unpacked to where it ends', () => {
  const { text, isWhole } = unpacked((bytes) => bytes.subarray(0, bytes.length - 50))
  expect([text.startsWith(first + second), text.length > (first + second).length, isWhole]).toEqual([true, true, false])
})
