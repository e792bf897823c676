import type { Mirror } from '../../../mirror/open.ts'
import type { TermPhrase } from '../../../text/matcher.ts'
import { tokenize } from '../../../text/terms.ts'
import { createDeadline } from '../deadline.ts'
import { echo } from '../language/echo.ts'

/** So many of the words that hold a text are searched for, the shortest first. */
const TERMS_MAX = 200
const LOOK_MS = 250

const TERMS_WITH = `select term from terms where instr(term, @part) > 0`

/**
 * The words that hold a text somewhere. What falls into several terms is met in a word's lower-case spelling, or as
 * those terms side by side: the first ends with its own, the last begins with its own.
 */
export function expandInside(db: Mirror, text: string, warnings: string[]): readonly TermPhrase[] {
  const terms = tokenize(text).map((term) => term.term)
  const whole = tokenize(text.toLowerCase()).map((term) => term.term)
  const [first = ''] = terms
  const found = new Map<string, TermPhrase>()
  const add = (phrase: TermPhrase): void => void found.set(phrase.terms.join(' '), phrase)
  let isCut = false
  const look = (part: string, phraseOf: (term: string) => TermPhrase | null): void => {
    const { listed, isWhole } = listTermsWith(db, part)
    isCut ||= !isWhole
    const phrases = listed.flatMap((term) => phraseOf(term) ?? [])
    isCut ||= phrases.length > TERMS_MAX
    for (const phrase of phrases.slice(0, TERMS_MAX)) add(phrase)
  }
  if (terms.length > 1) {
    const rest = terms.slice(1)
    look(first, (term) => (term.endsWith(first) ? { terms: [term, ...rest], isPrefix: true } : null))
    add({ terms, isPrefix: true })
  }
  if (whole.length === 1) {
    look(whole[0] ?? '', (term) => ({ terms: [term], isPrefix: false }))
    add({ terms: whole, isPrefix: false })
  }
  if (isCut) warnings.push(`${echo(`*${text}*`)} stands in very many words: only some of them were searched for.`)
  return [...found.values()]
}

interface Listed {
  /** The shortest first: those are nearest to what was typed. */
  readonly listed: readonly string[]
  readonly isWhole: boolean
}

function listTermsWith(db: Mirror, part: string): Listed {
  const deadline = createDeadline(LOOK_MS)
  const listed: string[] = []
  // A text that few words hold gives no rows to look at the clock by: the list is walked within a known time.
  for (const term of db.prepare<[object], string>(TERMS_WITH).pluck().iterate({ part })) {
    listed.push(term)
    if (deadline.isPassedAtRow()) break
  }
  listed.sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
  return { listed, isWhole: !deadline.hasPassed() }
}
