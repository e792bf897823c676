import type { Mirror } from '../../../mirror/open.ts'
import type { TermPhrase } from '../../../text/passages/matcher.ts'
import { tokenize } from '../../../text/terms/terms.ts'
import { createDeadline } from '../deadline.ts'
import { echo } from '../language/lex.ts'
import { printQuery } from '../language/print.ts'
import type { InsideNode } from '../language/tree.ts'

/** So many of the words that hold a text are searched for, the shortest first. */
const TERMS_MAX = 200
/** Nearly any word ends with a given sign, and each that is searched for beside others costs a look into the index. */
const AFTER_ONE_SIGN_MAX = 20
const LOOK_MS = 250

// In a hash, letters and digits are one term.
const hexDigits = /^[\da-f]+$/i

/**
 * The words that hold a text somewhere, or end with it. What falls into several terms is met in a word's lower-case
 * spelling, or as those terms side by side: the first ends with its own, the last begins with its own.
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
  if (isCut) warnings.push(`${echo(printQuery(node))} stands in very many words: only some of them were searched for.`)
  return [...found.values()]
}

const TERMS_WITH = `select term from terms where instr(term, @part) > 0`

interface Listed {
  /** The shortest first: those are nearest to what was typed, which is always among them. */
  readonly terms: readonly string[]
  readonly isWhole: boolean
}

function listTerms(db: Mirror, part: string, isEnding: boolean, most: number): Listed {
  const deadline = createDeadline(LOOK_MS)
  const known: string[] = []
  // A text that few words hold gives no rows to look at the clock by: the list is walked within a known time.
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

/** The list keeps words that stand nowhere any more, such as the half ones of an answer that was streamed. */
function firstInUse(db: Mirror, known: readonly string[], most: number): Listed {
  const deadline = createDeadline(LOOK_MS)
  const isInUse = db.prepare<[object], number>(IS_IN_USE).pluck()
  const terms: string[] = []
  for (const term of known) {
    if (terms.length === most || deadline.isPassed()) return { terms, isWhole: false }
    if (isInUse.get({ term: `"${term}"` }) === 1) terms.push(term)
  }
  return { terms, isWhole: true }
}
