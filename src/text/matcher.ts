import { visitLoweredWords } from './lowered-words.ts'
import { isUnspacedSign, visitTerms } from './terms.ts'

/** Terms that stand side by side; the last may be the beginning of a longer one. */
export interface TermPhrase {
  readonly terms: readonly string[]
  readonly isPrefix: boolean
}

/** UTF-16 offsets into the original text, end exclusive. */
export interface Span {
  readonly start: number
  readonly end: number
}

export interface TermMatch {
  /** Which of the matcher's phrases. */
  readonly phrase: number
  /** One span per stretch without white space, in order. */
  readonly spans: readonly Span[]
}

/** Finds in a text, by the index's own rules, what a query looked for. */
export interface TermMatcher {
  /** Those of lowered words behind the others, each kind in order of where they end. At most 10,000: enough to choose a passage by. */
  readonly find: (text: string) => readonly TermMatch[]
}

const MATCHES_MAX = 10_000

interface Place extends Span {
  readonly term: string
}

interface NumberedPhrase extends TermPhrase {
  readonly index: number
}

export function createMatcher(phrases: readonly TermPhrase[]): TermMatcher {
  const numbered = phrases.map((phrase, index) => ({ ...phrase, index })).filter((phrase) => phrase.terms.length > 0)
  const byLastTerm = new Map<string, NumberedPhrase[]>()
  for (const phrase of numbered) {
    const last = phrase.terms.at(-1) ?? ''
    if (!phrase.isPrefix) byLastTerm.set(last, [...(byLastTerm.get(last) ?? []), phrase])
  }
  const prefixes = numbered.filter((phrase) => phrase.isPrefix)
  const longest = Math.max(1, ...numbered.map((phrase) => phrase.terms.length))
  return { find: (text) => (numbered.length === 0 ? [] : findMatches(text, byLastTerm, prefixes, longest)) }
}

function findMatches(
  text: string,
  byLastTerm: ReadonlyMap<string, readonly NumberedPhrase[]>,
  prefixes: readonly NumberedPhrase[],
  longest: number,
): readonly TermMatch[] {
  const matches: TermMatch[] = []
  // The last few terms suffice: a phrase is checked backwards from the term that ends it.
  const recent: Place[] = []
  let count = 0
  const check = (phrase: NumberedPhrase): void => {
    const places = placesOf(phrase, recent, count, longest)
    if (places !== null) matches.push({ phrase: phrase.index, spans: joinSpans(text, places) })
  }
  const visit = (term: string, start: number, end: number): void => {
    if (matches.length >= MATCHES_MAX) return
    recent[count % longest] = { term, start, end }
    count += 1
    const ending = byLastTerm.get(term)
    if (ending !== undefined) for (const phrase of ending) check(phrase)
    for (const phrase of prefixes) if (term.startsWith(phrase.terms.at(-1) ?? '')) check(phrase)
  }
  visitTerms(text, visit)
  // A word with humps also stands in the index as it is spelt without them, with nothing beside it.
  visitLoweredWords(text, (word, start, end) => {
    count = 0
    visitTerms(word, (term) => visit(term, start, end))
  })
  return matches
}

function placesOf(
  phrase: TermPhrase,
  recent: readonly Place[],
  count: number,
  longest: number,
): readonly Place[] | null {
  const length = phrase.terms.length
  if (count < length) return null
  const places: Place[] = []
  for (const [index, term] of phrase.terms.entries()) {
    const place = recent[(count - length + index) % longest]
    if (place === undefined) return null
    const isLast = index === length - 1
    if (place.term !== term && !(isLast && phrase.isPrefix && place.term.startsWith(term))) return null
    places.push(isLast && phrase.isPrefix && isUnspacedSign(term) ? firstSignOf(place, term) : place)
  }
  return places
}

/** A single sign is looked for as the start of a pair; only the sign itself was asked for. */
function firstSignOf(place: Place, sign: string): Place {
  return { ...place, end: Math.min(place.end, place.start + sign.length) }
}

function joinSpans(text: string, places: readonly Place[]): readonly Span[] {
  const spans: Span[] = []
  for (const { start, end } of places) {
    const last = spans.at(-1)
    const isJoined = last !== undefined && (start <= last.end || !/\s/.test(text.slice(last.end, start)))
    if (isJoined) spans[spans.length - 1] = { start: last.start, end: Math.max(end, last.end) }
    else spans.push({ start, end })
  }
  return spans
}
