export type Value = null | number | bigint | string | Buffer

/** Bytes that are not what they should be; whoever reads on leaves out what they belong to. */
export class BadBytes extends Error {}

/** @returns the number at `at`, and where what follows begins. The mirror holds none beyond 2^53, and none below 0. */
export function readVarint(bytes: Buffer, at: number): readonly [value: number, next: number] {
  let value = 0
  for (let index = 0; index < 8; index += 1) {
    const byte = bytes[at + index]
    if (byte === undefined) break
    value = value * 128 + (byte & 0x7f)
    if (byte < 0x80 && Number.isSafeInteger(value)) return [value, at + index + 1]
  }
  throw new BadBytes('a number has no end')
}

/** The values of a record, as SQLite's file format lays them down. @throws BadBytes */
export function readRecord(payload: Buffer): Value[] {
  const [headerEnd, first] = readVarint(payload, 0)
  if (headerEnd < first || headerEnd > payload.length) throw new BadBytes('a record has a wrong head')
  const types: number[] = []
  for (let at = first; at < headerEnd;) {
    const [type, next] = readVarint(payload, at)
    types.push(type)
    at = next
  }
  let at = headerEnd
  const values = types.map((type) => {
    const size = sizeOf(type)
    if (at + size > payload.length) throw new BadBytes('a record is too short')
    const value = readValue(payload, type, at, size)
    at += size
    return value
  })
  if (at !== payload.length) throw new BadBytes('a record is too long')
  return values
}

const FIXED_SIZES = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0]

function sizeOf(type: number): number {
  if (type >= 12) return Math.floor((type - 12) / 2)
  const size = FIXED_SIZES[type]
  if (size === undefined) throw new BadBytes('a value is of no known type')
  return size
}

function readValue(bytes: Buffer, type: number, at: number, size: number): Value {
  if (type === 0) return null
  if (type === 8 || type === 9) return type - 8
  if (type === 7) return bytes.readDoubleBE(at)
  if (type === 6) {
    const value = bytes.readBigInt64BE(at)
    return Number.isSafeInteger(Number(value)) ? Number(value) : value
  }
  if (type < 6) return bytes.readIntBE(at, size)
  return type % 2 === 0 ? bytes.subarray(at, at + size) : bytes.toString('utf8', at, at + size)
}
