import { fieldNames } from '../../../../src/api/search/language/tree.ts'
import type { Chance } from '../../../../src/sample/chance.ts'

type Choices = readonly [string, ...string[]]

/** Ordinary queries, to be mutated. */
const real: Choices = [
  'getUserName',
  'connection pool timeout -test',
  '"cannot read properties of undefined"',
  '(tool:edit OR tool:write) migration -test after:7d',
  'project:shop role:user in:code retry*',
  'before:2026-02 on:"last week" is:archived has:error',
  'path:src/api/search.ts *inside* model:gpt-5*',
  '数据库 迁移 -"用户 表"',
  'การเชื่อมต่อ ฐานข้อมูล',
  '데이터베이스 연결',
  'データベース "接続 エラー"',
  'Überweisung Straße naïve',
  '62b996dfe0a1* 550e8400-e29b-41d4-a716-446655440000',
  '🚀 👩‍💻 🇩🇪',
  'SELECT * FROM users WHERE id = 1; -- comment',
  "Robert'); DROP TABLE messages;--",
  'text:one NEAR("two" "three", 5) ^four + five AND NOT six',
  '{text code} : ("a" OR b*) NOT rank MATCH \'x\'',
  'curl -X POST -H "Accept: */*" https://example.com/a?b=%20&c=d#e',
  'C:\\Users\\ada\\code && rm -rf "$HOME"/*',
]
const fields: Choices = fieldNames
const rubbish: Choices = [
  '',
  ':',
  '*',
  '""',
  '"',
  '-1',
  '0',
  '1e999',
  'NaN',
  'null',
  '../../etc/passwd',
  '2026-13-45',
  '99999999999d',
  '-7d',
  '2026-02-30T25:61',
  '数据',
  '(',
  ')(',
  '*'.repeat(50),
  'x'.repeat(2000),
  '%00',
  '\u0000',
  '\ud800',
]

/** A real query with a few characters dropped, doubled, swapped, moved or replaced. */
export function mutatedQuery(chance: Chance): string {
  let signs = Array.from(chance.pick(real))
  for (let times = chance.between(1, 6); times > 0; times -= 1) signs = mutate(signs, chance)
  return signs.join('')
}

function mutate(signs: readonly string[], chance: Chance): string[] {
  const at = chance.between(0, Math.max(0, signs.length - 1))
  const sign = signs[at] ?? ''
  switch (chance.between(1, 8)) {
    case 1:
      return signs.toSpliced(at, chance.between(1, 3))
    case 2:
      return signs.toSpliced(at, 0, sign.repeat(chance.between(1, 40)))
    case 3:
      return signs.toSpliced(
        at,
        1,
        chance.pick(['"', '(', ')', '-', '*', ':', ' ', "'", '\\', '\u0000', '\udfff', '%']),
      )
    case 4:
      return signs.toSpliced(at, 0, ...signs.slice(chance.between(0, at), at))
    case 5:
      return signs.toReversed()
    case 6:
      return signs.map((each) => (chance.next() < 0.5 ? each.toUpperCase() : each))
    case 7:
      return [...signs, ` ${chance.pick(fields)}:${chance.pick(rubbish)}`]
    default:
      return Array.from(encodeURIComponent(signs.join('').toWellFormed()))
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
