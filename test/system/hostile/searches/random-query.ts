import type { Chance } from '../../../helpers/cursor.ts'
import { pieces } from './pieces.ts'

const { words, marks, spells, signs } = pieces

/** Long queries are rare, because they take too much time. */
const long: readonly ((chance: Chance) => string)[] = [
  (chance) => chance.pick(words).repeat(100_000).slice(0, 100_000),
  (chance) => chance.pick(marks).repeat(100_000),
  (chance) => chance.pick(signs).repeat(20_000),
  () => Array.from({ length: 20_000 }, (_, at) => `w${at}`).join(' '),
  () => Array.from({ length: 20_000 }, (_, at) => `-w${at}`).join(' '),
  () => Array.from({ length: 5000 }, (_, at) => `"p${at} q"*`).join(' '),
  () => `${'('.repeat(50_000)}a${')'.repeat(50_000)}`,
]

const EACH_LONG = 2000

/** A string that a person, a program or an attacker might send. */
export function randomQuery(chance: Chance, at: number): string {
  if (at % EACH_LONG === 0) return (long[(at / EACH_LONG) % long.length] ?? String)(chance)
  const length = chance.between(0, 12)
  const parts = Array.from({ length }, () => pieceOf(chance))
  return parts.join(chance.pick([' ', '', ' ', '\u00a0']))
}

function pieceOf(chance: Chance): string {
  const kind = chance.between(1, 10)
  if (kind <= 3) return chance.pick(words)
  if (kind <= 6) return chance.pick(marks)
  if (kind <= 8) return chance.pick(spells)
  return kind === 9 ? chance.pick(signs) : String.fromCharCode(chance.between(0, 0xffff))
}

/** Percent-encodes a query. Half a surrogate pair has no encoding, and is sent as the bytes that SQLite would write. */
export const encoded = (query: string): string =>
  query
    .split(/(\p{Surrogate})/u)
    .map((text, at) => (at % 2 === 0 ? encodeURIComponent(text) : halfOf(text)))
    .join('')

function halfOf(text: string): string {
  const unit = text.charCodeAt(0)
  const bytes = [0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f)]
  return bytes.map((byte) => `%${byte.toString(16)}`).join('')
}
