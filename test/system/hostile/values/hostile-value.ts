import { createHash } from 'node:crypto'
import type { Chance } from '../../../helpers/cursor.ts'
import { readJson, writtenOut } from '../../../helpers/cases.ts'

type Strings = readonly [string, ...string[]]

/** `common`: unexpected values for a field, as JSON text. `strays`: invalid UTF-8, a stray byte and so on. */
const { common, strays } = writtenOut(
  readJson(import.meta.url, 'hostile-value.json') as Readonly<Record<'common' | 'strays', Strings>>,
)

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
