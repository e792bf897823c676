import { fieldNames } from '../../../../src/api/search/query.ts'
import { readJson, writtenOut } from '../../../helpers/cases.ts'
import type { Chance } from '../../../helpers/cursor.ts'

type Choices = readonly [string, ...string[]]

type Kind = 'words' | 'marks' | 'spells' | 'signs' | 'real' | 'rubbish'

/** What hostile queries are made of. `real`: ordinary queries, to be mutated. `rubbish`: values of fields. */
const { words, marks, spells, signs, real, rubbish } = writtenOut(
  readJson(import.meta.url, 'pieces.json') as Readonly<Record<Kind, Choices>>,
)

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

const fields: Choices = ['project', ...fieldNames]

/** A real query with a few characters dropped, doubled, swapped, moved or replaced. */
export function mutatedQuery(chance: Chance): string {
  let left = Array.from(chance.pick(real))
  for (let times = chance.between(1, 6); times > 0; times -= 1) left = mutate(left, chance)
  return left.join('')
}

function mutate(given: readonly string[], chance: Chance): string[] {
  const at = chance.between(0, Math.max(0, given.length - 1))
  const sign = given[at] ?? ''
  switch (chance.between(1, 8)) {
    case 1:
      return given.toSpliced(at, chance.between(1, 3))
    case 2:
      return given.toSpliced(at, 0, sign.repeat(chance.between(1, 40)))
    case 3:
      return given.toSpliced(
        at,
        1,
        chance.pick(['"', '(', ')', '-', '*', ':', ' ', "'", '\\', '\u0000', '\udfff', '%']),
      )
    case 4:
      return given.toSpliced(at, 0, ...given.slice(chance.between(0, at), at))
    case 5:
      return given.toReversed()
    case 6:
      return given.map((each) => (chance.next() < 0.5 ? each.toUpperCase() : each))
    case 7:
      return [...given, ` ${chance.pick(fields)}:${chance.pick(rubbish)}`]
    default:
      return Array.from(encodeURIComponent(given.join('').toWellFormed()))
  }
}

/** Nested parentheses, quotes and operators, closed or not. */
export function nestedQuery(chance: Chance): string {
  const depth = chance.between(1, 60)
  const opening = Array.from({ length: depth }, () => chance.pick(['(', '-(', '"', '(a OR ', '-"b', 'in:text (', '*(']))
  const closing = Array.from({ length: chance.between(0, depth) }, () =>
    chance.pick([')', '"', ') OR c', ')*', ') -d']),
  )
  return `${opening.join('')}word${closing.join('')}`
}
