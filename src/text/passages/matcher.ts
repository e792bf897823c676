import { visitLoweredWords } from '../terms/lowered-words.ts'
import { nearStretches } from './near-stretches.ts'
import { isUnspacedSign, visitTerms } from '../terms/terms.ts'

/** Terms that stand side by side; the last may be the beginning of a longer one. */
export interface TermPhrase {
  readonly terms: readonly string[]
  readonly isPrefix: boolean
}

/** What a query looks for, in one of its spellings. */
export interface WantedPhrase extends TermPhrase {
  /** The same for all spellings of one thing; where not given, the phrase is a thing of its own. */
  readonly word?: string
  /** The kinds of parts in which it counts; where not given, all. */
  readonly columns?: readonly string[] | null
}

/** UTF-16 offsets into the original text, end exclusive. */
export interface Span {
  readonly start: number
  readonly end: number
}

export interface TermMatch {
  /** A number for what was looked for, whatever the spelling. */
  readonly word: number
  /** One span per stretch without white space, in order. */
  readonly spans: readonly Span[]
}

/** Finds in a text, by the index's own rules, what a query looked for. */
export interface TermMatcher {
  /** Those of lowered words behind the others, each kind in order of where they end. At most 10,000: enough to choose a passage by. */
  readonly find: (text: string, column?: string) => readonly TermMatch[]
}

const MATCHES_MAX = 10_000

interface Place extends Span {
  readonly term: string
}

interface NumberedPhrase extends TermPhrase {
  readonly number: number
}

export function createMatcher(phrases: readonly WantedPhrase[]): TermMatcher {
  const words = [...new Set(phrases.map(nameOf))]
  const numbered = phrases
    .filter((phrase) => phrase.terms.length > 0)
    .map((phrase) => ({ ...phrase, number: words.indexOf(nameOf(phrase)) }))
  const finders = new Map<string | undefined, (text: string) => readonly TermMatch[]>()
  return {
    find: (text, column) => {
      const counts = ({ columns }: WantedPhrase): boolean =>
        column === undefined || (columns ?? null) === null || columns?.includes(column) === true
      const find = finders.get(column) ?? createFinder(numbered.filter(counts))
      finders.set(column, find)
      return find(text)
    },
  }
}

const nameOf = (phrase: WantedPhrase): string => phrase.word ?? `${phrase.isPrefix} ${phrase.terms.join(' ')}`

function createFinder(numbered: readonly NumberedPhrase[]): (text: string) => readonly TermMatch[] {
  const byLastTerm = new Map<string, NumberedPhrase[]>()
  for (const phrase of numbered) {
    const last = phrase.terms.at(-1) ?? ''
    if (!phrase.isPrefix) byLastTerm.set(last, [...(byLastTerm.get(last) ?? []), phrase])
  }
  const prefixes = numbered.filter((phrase) => phrase.isPrefix)
  const longest = Math.max(1, ...numbered.map((phrase) => phrase.terms.length))
  const lastTerms = [...new Set(numbered.map((phrase) => phrase.terms.at(-1) ?? ''))]
  const wanted: Wanted = { byLastTerm, prefixes, lastTerms, longest }
  return (text) => (numbered.length === 0 ? [] : findMatches(text, wanted))
}

interface Wanted {
  readonly byLastTerm: ReadonlyMap<string, readonly NumberedPhrase[]>
  readonly prefixes: readonly NumberedPhrase[]
  readonly lastTerms: readonly string[]
  /** Terms of the longest of them. */
  readonly longest: number
}

function findMatches(text: string, { byLastTerm, prefixes, lastTerms, longest }: Wanted): readonly TermMatch[] {
  const stretches = nearStretches(text, lastTerms, longest - 1)
  const matches: TermMatch[] = []
  // The last few terms suffice: a phrase is checked backwards from the term that ends it.
  const recent: Place[] = []
  let count = 0
  const check = (phrase: NumberedPhrase): void => {
    const places = placesOf(phrase, recent, count, longest)
    if (places !== null) matches.push({ word: phrase.number, spans: joinSpans(text, places) })
  }
  const visit = (term: string, start: number, end: number): void => {
    if (matches.length >= MATCHES_MAX) return
    recent[count % longest] = { term, start, end }
    count += 1
    const ending = byLastTerm.get(term)
    if (ending !== undefined) for (const phrase of ending) check(phrase)
    for (const phrase of prefixes) if (term.startsWith(phrase.terms.at(-1) ?? '')) check(phrase)
  }
  for (const { start, end } of stretches) {
    count = 0
    visitTerms(text, visit, start, end)
  }
  // A word with humps also stands in the index as it is spelt without them, with nothing beside it.
  const visitLowered = (word: string, start: number, end: number): void => {
    count = 0
    visitTerms(word, (term) => visit(term, start, end))
  }
  for (const { start, end } of stretches) visitLoweredWords(text, visitLowered, start, end)
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
