import { createHash } from 'node:crypto'
import type { Chance } from '../../../../src/sample/chance.ts'

/** Unexpected values for a field, as JSON text. */
const common: readonly [string, ...string[]] = [
  'null',
  'null',
  'true',
  'false',
  '0',
  '-0',
  '1',
  '2',
  '15',
  '-1',
  '1.5',
  '5e-324',
  '1e308',
  '1e999',
  '-1e999',
  '9007199254740993',
  '123456789012345678901234567890',
  '8640000000000001',
  '-8640000000000001',
  '253402300800000',
  '4294967296',
  '0.1e-400',
  '""',
  '" "',
  '"0"',
  '"1e999"',
  '"null"',
  '"user"',
  '"\\u0000"',
  '"a\\u0000b"',
  '"\\ud800"',
  '"\\udfff\\ud800 x"',
  '"\\u202e\\u2066"',
  '"\\ufffd"',
  '"\\uffff"',
  '"\\u001b[31m\\u009b"',
  '"__proto__"',
  '"constructor"',
  '"toString"',
  '"2026-99-99T99:99:99Z"',
  '"+275760-09-13T00:00:00.001Z"',
  '"-271821-04-19T23:59:59.999Z"',
  '"yesterday"',
  '"file:///%"',
  '"file://%zz/%00"',
  '"vscode-remote://ssh-remote+%"',
  '"vscode-remote://"',
  '"http://["',
  '"../../x"',
  '"{\\"a\\":"',
  '"{}"',
  '"[]"',
  '"[[[]]]"',
  '"{\\"__proto__\\":{\\"x\\":1}}"',
  '"~"',
  '"~AA"',
  '"~zz%"',
  '"data:,x"',
  '[]',
  '{}',
  '[null]',
  '[[]]',
  '[{}]',
  '[0,"",null,{},[],true]',
  '{"length":1000000000}',
  '{"0":1,"length":1}',
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"toJSON":"x"}',
  '{"toString":null,"valueOf":1}',
  '{"then":1}',
  '{"":""}',
  '{"\\ud800":"\\udc00"}',
  '{"text":"said","type":1}',
  '{"type":"text","text":{"text":{"text":1}}}',
  '{"root":{"children":[{"children":[{"text":7}]}]}}',
  `"composer.content.${'0'.repeat(64)}"`,
  `["composer.content.${'f'.repeat(64)}"]`,
]

const nested = (open: string, close: string, depth: number): string => open.repeat(depth) + close.repeat(depth)

/** Long values. They are used rarely, because they take most of the time. */
const rare: readonly [() => string, ...(() => string)[]] = [
  () => nested('[', ']', 100_000),
  () => `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`,
  () => JSON.stringify(nested('[', ']', 100_000)),
  () => nested('[', ']', 500),
  () => nested('[', ']', 501),
  () => JSON.stringify('x'.repeat(300_000)),
  () => JSON.stringify('wort '.repeat(20_000)),
  () => JSON.stringify('\u4e2d'.repeat(50_000)),
  () => JSON.stringify('\u0301'.repeat(50_000)),
  () => JSON.stringify('</script>`~*_'.repeat(5000)),
  () => `"${'\\ud800'.repeat(20_000)}"`,
  () => `[${'null,'.repeat(20_000)}0]`,
  () => `{${Array.from({ length: 3000 }, (_, at) => `"k${at}":{"type":"text","text":"t${at}"}`).join()}}`,
  () => '9'.repeat(100_000),
]

const RARE = 1 / 400

export const hostileJson = (chance: Chance): string =>
  chance.next() < RARE ? chance.pick(rare)() : chance.pick(common)

const someBytes = (chance: Chance, length: number): Buffer =>
  Buffer.from(Array.from({ length }, () => chance.between(0, 255)))

/** Invalid UTF-8: a stray byte, an overlong slash, half a surrogate pair, beyond the last code point. */
const strays: readonly [string, ...string[]] = ['ff', 'c328', 'c0af', 'eda080', 'f4908080', 'e282', '00', 'efbbbf']

const damages: readonly [(bytes: Buffer, chance: Chance) => Buffer, ...((bytes: Buffer, chance: Chance) => Buffer)[]] =
  [
    (bytes, chance) => bytes.subarray(0, chance.between(0, bytes.length)),
    (bytes, chance) => bytes.subarray(chance.between(0, bytes.length)),
    (bytes, chance) => insert(bytes, chance, Buffer.from(chance.pick(strays), 'hex')),
    (bytes, chance) => insert(bytes, chance, someBytes(chance, 8)),
    (_, chance) => someBytes(chance, chance.between(0, 200)),
    (_, chance) => Buffer.alloc(chance.between(1, 100)),
    (bytes) => Buffer.from(bytes.toString('utf8'), 'utf16le'),
    (bytes) => Buffer.concat([Buffer.from('efbbbf', 'hex'), bytes]),
    (bytes) => Buffer.concat([bytes, bytes]),
    (bytes) => Buffer.from(bytes.toString('hex')),
    (bytes) => Buffer.from(JSON.stringify(bytes.toString('utf8'))),
  ]

function insert(bytes: Buffer, chance: Chance, stray: Buffer): Buffer {
  const at = chance.between(0, bytes.length)
  return Buffer.concat([bytes.subarray(0, at), stray, bytes.subarray(at)])
}

export const damaged = (bytes: Buffer, chance: Chance): Buffer => chance.pick(damages)(bytes, chance)

/** A value for a column of Cursor: bytes as text or as a blob, or not a text. */
export interface Cell {
  readonly form: 'text' | 'blob' | 'other'
  readonly value: Buffer | number | bigint | null
}

const others: readonly [Cell['value'], ...Cell['value'][]] = [
  null,
  0,
  -1,
  1.5,
  1e308,
  Infinity,
  -Infinity,
  Number.NaN,
  42n,
  2n ** 63n - 1n,
  -(2n ** 63n),
] as [Cell['value'], ...Cell['value'][]]

/** Nine of ten values are unchanged. The others are cut off or have another type. */
export function cellOf(json: string, chance: Chance): Cell {
  const die = chance.between(1, 40)
  if (die === 1) return { form: 'other', value: chance.pick(others) }
  const bytes = Buffer.from(json)
  const value = die <= 4 ? damaged(bytes, chance) : bytes
  return { form: chance.between(1, 5) === 1 ? 'blob' : 'text', value }
}

export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
