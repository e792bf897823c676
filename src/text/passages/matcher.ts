import { isUnspacedSign, termsOf, tokenize, visitLoweredWords } from '../terms/terms.ts'

/** Consecutive terms. The last one may be the beginning of a longer term. */
export interface TermPhrase {
  readonly terms: readonly string[]
  readonly isPrefix: boolean
}

/** One spelling of something that a query looks for. */
export interface WantedPhrase extends TermPhrase {
  /** Equal for all spellings of one thing. If omitted, the phrase has no other spelling. */
  readonly word?: string
  /** The columns in which it counts; all if omitted or null. */
  readonly columns?: readonly string[] | null
}

/** UTF-16 offsets into the original text, end exclusive. */
export interface Span {
  readonly start: number
  readonly end: number
}

export interface TermMatch {
  /** Number of the thing that was looked for, the same for all its spellings. */
  readonly word: number
  /** One span per stretch without white space, in order. */
  readonly spans: readonly Span[]
}

/** Finds the phrases of a query in a text, by the same rules as the index. */
export interface TermMatcher {
  /** Matches in order of their ends, then those of lowered words in the same order. At most 10,000: enough to choose passages. */
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
  const prefixes = numbered.filter(({ isPrefix }) => isPrefix)
  const lastTerms = [...new Set(numbered.map(({ terms }) => terms.at(-1) ?? ''))]
  // Most parts of a message have none of the words. Beyond ASCII, terms differ from their spelling.
  const mayMatch = (text: string): boolean => {
    if (Buffer.byteLength(text) > text.length) return numbered.length > 0
    const lowered = text.toLowerCase()
    return lastTerms.some((term) => lowered.includes(term))
  }
  return (text) => {
    const matches: TermMatch[] = []
    const check = (phrase: NumberedPhrase, places: readonly Place[], at: number): void => {
      const found = placesOf(phrase, places.slice(Math.max(0, at + 1 - phrase.terms.length), at + 1))
      if (found !== null) matches.push({ word: phrase.number, spans: joinSpans(text, found) })
    }
    const checkAll = (places: readonly Place[]): void => {
      for (const [at, { term }] of places.entries()) {
        if (matches.length >= MATCHES_MAX) return
        for (const phrase of byLastTerm.get(term) ?? []) check(phrase, places, at)
        for (const phrase of prefixes) if (term.startsWith(phrase.terms.at(-1) ?? '')) check(phrase, places, at)
      }
    }
    if (!mayMatch(text)) return []
    checkAll(tokenize(text))
    // The index also contains a camel-case word in lower case, without neighbours.
    visitLoweredWords(text, (word, start, end) => checkAll(termsOf(word).map((term) => ({ term, start, end }))))
    return matches
  }
}

/** The places of the terms of a phrase, if these are they; else null. */
function placesOf({ terms, isPrefix }: TermPhrase, places: readonly Place[]): readonly Place[] | null {
  if (places.length < terms.length) return null
  const found: Place[] = []
  for (const [at, term] of terms.entries()) {
    const place = places[at]
    const isOpen = isPrefix && at === terms.length - 1
    if (place === undefined || !(isOpen ? place.term.startsWith(term) : place.term === term)) return null
    found.push(isOpen && isUnspacedSign(term) ? firstSignOf(place, term) : place)
  }
  return found
}

/** A single character is searched as the start of a pair, but only the character itself is a match. */
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
