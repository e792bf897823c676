import { fieldNames } from '../../../../src/api/search/query.ts'
import type { Chance } from '../../../helpers/cursor.ts'
import { pieces, type Choices } from './pieces.ts'

const { real, rubbish } = pieces
const fields: Choices = ['project', ...fieldNames]

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
