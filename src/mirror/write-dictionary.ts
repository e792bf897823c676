import { isHash } from '../text/terms.ts'
import { isSignTerm } from '../text/marks.ts'
import type { Mirror } from './open.ts'
import { prepared } from './prepared.ts'

const ADD_TERM = `insert into terms (term) values (?) on conflict do nothing`

/** Shorter terms hold nothing but themselves; most longer ones are pasted data, and most long numbers are stamps. */
const LENGTH_MIN = 3
const LENGTH_MAX = 40
const DIGITS_MAX = 8
/** A few words make up most of any text: remembering them leaves little to ask. */
const REMEMBERED_MAX = 30_000

const remembered = new WeakMap<Mirror, Set<string>>()

/** Adds the terms of one column to the list of all terms there are, out of which `*inside*` is answered. */
export function writeDictionary(db: Mirror, columns: readonly string[]): void {
  const known = remembered.get(db) ?? new Set<string>()
  remembered.set(db, known)
  for (const column of columns) {
    for (const term of column.split(' ')) {
      if (known.has(term) || !isListed(term)) continue
      if (known.size >= REMEMBERED_MAX) known.clear()
      known.add(term)
      prepared(db, ADD_TERM).run(term)
    }
  }
}

/** Whether a term is found by what stands inside it. */
function isListed(term: string): boolean {
  if (term.length < LENGTH_MIN || term.length > LENGTH_MAX || isSignTerm(term)) return false
  return !isHash(term, 0, term.length) && !(term.length > DIGITS_MAX && /^\d+$/.test(term))
}
