import { filledString } from './json.ts'

/**
 * One field of a protobuf message. Varints are numbers. Fields with a length are bytes, and may be messages themselves.
 */
export interface WireField {
  readonly number: number
  readonly value: number | Buffer
}

const VARINT = 0
const FIXED_64 = 1
const BYTES = 2
const FIXED_32 = 5
const VARINT_BYTES_MAX = 10
const FIELD_NUMBER_MAX = 2 ** 29 - 1

/**
 * The fields of a protobuf message in order, as far as they can be read without its definition: numbers of a fixed
 * width are skipped. Total: null for bytes that are not such a message.
 */
export function readWire(bytes: Buffer): readonly WireField[] | null {
  const fields: WireField[] = []
  for (let at = 0; at < bytes.length;) {
    const tag = readVarint(bytes, at)
    if (tag === null) return null
    const [number, type] = [Math.floor(tag.value / 8), tag.value % 8]
    if (number < 1 || number > FIELD_NUMBER_MAX) return null
    const field = readValue(bytes, tag.end, type)
    if (field === null) return null
    if (field.value !== null) fields.push({ number, value: field.value })
    at = field.end
  }
  return fields
}

interface Read<Value> {
  readonly value: Value
  readonly end: number
}

function readValue(bytes: Buffer, at: number, type: number): Read<number | Buffer | null> | null {
  if (type === VARINT) return readVarint(bytes, at)
  if (type === BYTES) {
    const length = readVarint(bytes, at)
    if (length === null || length.value > bytes.length - length.end) return null
    const end = length.end + length.value
    return { value: bytes.subarray(length.end, end), end }
  }
  const width = type === FIXED_64 ? 8 : type === FIXED_32 ? 4 : null
  return width === null || width > bytes.length - at ? null : { value: null, end: at + width }
}

/**
 * Seven bits per byte, least significant first. A number that is too large to be exact becomes the largest exact one.
 */
function readVarint(bytes: Buffer, from: number): Read<number> | null {
  let value = 0
  for (let length = 0; length < VARINT_BYTES_MAX; length += 1) {
    const byte = bytes[from + length]
    if (byte === undefined) return null
    value += (byte & 0x7f) * 2 ** (7 * length)
    if (byte < 0x80) return { value: Math.min(value, Number.MAX_SAFE_INTEGER), end: from + length + 1 }
  }
  return null
}

/** All fields with this number that are bytes. */
export const bytesIn = (fields: readonly WireField[], number: number): readonly Buffer[] =>
  fields.flatMap((field) => (field.number === number && Buffer.isBuffer(field.value) ? [field.value] : []))

/** The last varint with this number, because a later one replaces earlier ones. */
export function numberAt(fields: readonly WireField[], number: number): number | null {
  const values = fields.flatMap((field) => (field.number === number ? [field.value] : []))
  return values.findLast((value) => typeof value === 'number') ?? null
}

/** The first message with this number; empty if there is none. */
export const messageIn = (fields: readonly WireField[], number: number): readonly WireField[] =>
  readWire(bytesIn(fields, number)[0] ?? Buffer.alloc(0)) ?? []

export const textIn = (fields: readonly WireField[], number: number): string | null =>
  filledString(bytesIn(fields, number)[0]?.toString('utf8'))

/** The bytes of a text that is hex and nothing else; else null. No pattern looks at it: it may have millions of digits. */
export function hexBytes(text: string): Buffer | null {
  // Node stops at the first sign that is no digit.
  const bytes = Buffer.from(text, 'hex')
  return text !== '' && 2 * bytes.length === text.length ? bytes : null
}
