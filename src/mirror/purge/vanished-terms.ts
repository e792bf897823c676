import { indexTerms } from '../../text/terms/terms.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'

/** Shorter ones stand in other words. */
const LENGTH_MIN = 8
const IS_HELD = `select 1 from terms where instr(term, ?) > 0 limit 1`

/** The terms under which the index held a text, those that no word of what is left holds. */
export const vanishedTerms = (db: Mirror, text: string): string[] =>
  [...new Set(indexTerms(text).split(' '))].filter(
    (term) => term.length >= LENGTH_MIN && prepared(db, IS_HELD).get(term) === undefined,
  )
