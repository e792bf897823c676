import type { Mirror } from '../../../mirror/open.ts'
import type { TermPhrase } from '../../../text/passages/matcher.ts'
import { tokenize } from '../../../text/terms/terms.ts'
import { createDeadline } from '../deadline.ts'
import { echo } from '../language/lex.ts'
import { printQuery } from '../language/print.ts'
import type { InsideNode } from '../language/tree.ts'

/** How many of the words that contain a text are searched for, the shortest first. */
const TERMS_MAX = 200
/** Very many words end with a given character, and each one costs a query of the index. */
const AFTER_ONE_SIGN_MAX = 20
const LIST_MS = 250

// In a hash, letters and digits are one term.
const hexDigits = /^[\da-f]+$/i

/**
 * The words that contain a text, or end with it. If the text has several terms, it is found in the lower-case form of a
 * word, or as adjacent terms: the first one ends with the first term, and the last one begins with the last term.
 */
export function expandInside(db: Mirror, node: InsideNode, warnings: string[]): readonly TermPhrase[] {
  const terms = tokenize(node.text).map((term) => term.term)
  const whole = tokenize(node.text.toLowerCase()).map((term) => term.term)
  const [first = '', ...rest] = terms
  const isPrefix = !node.isEnding
  const found = new Map<string, TermPhrase>()
  let isCut = false
  const add = (listed: Listed, rests: readonly string[], isOpen: boolean): void => {
    isCut ||= !listed.isWhole
    for (const term of listed.terms) {
      const phrase = [term, ...rests]
      found.set(phrase.join(' '), { terms: phrase, isPrefix: isOpen })
    }
  }
  const most = Array.from(first).length === 1 ? AFTER_ONE_SIGN_MAX : TERMS_MAX
  if (rest.length > 0) add(listTerms(db, first, true, most), rest, isPrefix)
  const [only = ''] = whole.length === 1 ? whole : hexDigits.test(node.text) ? [node.text.toLowerCase()] : []
  if (only !== '') add(listTerms(db, only, node.isEnding, TERMS_MAX), [], false)
  if (isCut) warnings.push(`Too many words contain ${echo(printQuery(node))}: only some of them were searched for.`)
  return [...found.values()]
}

const TERMS_WITH = `select term from terms where instr(term, @part) > 0`

interface Listed {
  /** The shortest first, because they are closest to the typed text. The typed text is always included. */
  readonly terms: readonly string[]
  readonly isWhole: boolean
}

function listTerms(db: Mirror, part: string, isEnding: boolean, most: number): Listed {
  const deadline = createDeadline(LIST_MS)
  const known: string[] = []
  // If few words match, there are few rows at which to check the clock. The walk over all terms has a bounded time anyway.
  for (const term of db.prepare<[object], string>(TERMS_WITH).pluck().iterate({ part })) {
    if (term !== part && (!isEnding || term.endsWith(part))) known.push(term)
    if (deadline.isPassedAtRow()) break
  }
  known.sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
  const { terms, isWhole } = known.length > most ? firstInUse(db, known, most) : { terms: known, isWhole: true }
  return { terms: [part, ...terms], isWhole: isWhole && !deadline.hasPassed() }
}

const IS_IN_USE = `
  select exists (select 1 from message_terms where message_terms match @term)
    or exists (select 1 from chat_terms where chat_terms match @term)
`

/** Skips words that are no longer in any message, such as half words of a streamed answer. The list of terms keeps them. */
function firstInUse(db: Mirror, known: readonly string[], most: number): Listed {
  const deadline = createDeadline(LIST_MS)
  const isInUse = db.prepare<[object], number>(IS_IN_USE).pluck()
  const terms: string[] = []
  for (const term of known) {
    if (terms.length === most || deadline.isPassed()) return { terms, isWhole: false }
    if (isInUse.get({ term: `"${term}"` }) === 1) terms.push(term)
  }
  return { terms, isWhole: true }
}
