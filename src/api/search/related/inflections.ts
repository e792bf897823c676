import type { Mirror } from '../../../mirror/open.ts'
import { valuesOf } from '../match/statement.ts'
import type { Language } from './languages.ts'

/** Shorter stems have few forms, and too many words begin with them. */
const STEM_LENGTH_MIN = 3
/** The last letter of a stem may differ from the word: the stem of `memory` is `memori`. */
const STEM_END = 1
/** How many letters a form may have after its stem. */
const ENDING_MAX = 6
/** How many words with the same beginning are looked at, and how many forms of a word are searched for. */
const LOOKED_AT_MAX = 3000
const FORMS_MAX = 24

const NEIGHBOURS = `
  select term from terms where term >= @low and term < @high and length(term) <= @length limit ${LOOKED_AT_MAX}
`
const isWord = /^\p{L}+$/u

/** The word itself, and then the words of the mirror that have the same stem. */
export function inflectionsOf(db: Mirror, term: string, { stem }: Language): readonly string[] {
  if (!isWord.test(term)) return [term]
  const root = stem(term)
  const length = Math.max(STEM_LENGTH_MIN, Math.min(root.length - STEM_END, commonLength(root, term)))
  const beginning = term.slice(0, length)
  if (root.length < STEM_LENGTH_MIN || beginning.length < STEM_LENGTH_MIN) return [term]
  const bounds = { low: beginning, high: `${beginning}\u{10ffff}`, length: root.length + ENDING_MAX }
  const forms = valuesOf<string>(db, NEIGHBOURS)
    .all(bounds)
    .filter((other) => other !== term && isWord.test(other) && stem(other) === root)
  return [term, ...forms.slice(0, FORMS_MAX)]
}

function commonLength(one: string, other: string): number {
  let length = 0
  while (length < one.length && one.charAt(length) === other.charAt(length)) length += 1
  return length
}
