import { BREAK, kindOf, isUnspacedSign, visitLoweredWords, visitTerms, type Term } from '../terms/terms.ts'

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
  const lastTerms = new Set(numbered.map((phrase) => phrase.terms.at(-1) ?? ''))
  return (text) => {
    const stretches = numbered.length === 0 ? [] : nearStretches(text, lastTerms, longest - 1)
    const matches: TermMatch[] = []
    // The last few terms are enough: a phrase is checked when its last term is found.
    const recent: Term[] = []
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
    // The index also contains a camel-case word in lower case, without neighbours.
    const visitLowered = (word: string, start: number, end: number): void => {
      count = 0
      visitTerms(word, (term) => visit(term, start, end))
    }
    for (const { start, end } of stretches) visitLoweredWords(text, visitLowered, start, end)
    return matches
  }
}

function placesOf(phrase: TermPhrase, recent: readonly Term[], count: number, longest: number): readonly Term[] | null {
  const length = phrase.terms.length
  if (count < length) return null
  const places: Term[] = []
  for (const [index, term] of phrase.terms.entries()) {
    const place = recent[(count - length + index) % longest]
    if (place === undefined) return null
    const isLast = index === length - 1
    if (place.term !== term && !(isLast && phrase.isPrefix && place.term.startsWith(term))) return null
    // A single character is searched as the start of a pair, but only the character itself is a match.
    const end = isLast && phrase.isPrefix && isUnspacedSign(term) ? place.start + term.length : place.end
    places.push(end < place.end ? { ...place, end } : place)
  }
  return places
}

function joinSpans(text: string, places: readonly Term[]): readonly Span[] {
  const spans: Span[] = []
  for (const { start, end } of places)
    addSpan(spans, { start, end }, (last) => start <= last.end || !/\s/.test(text.slice(last.end, start)))
  return spans
}

/** Appends a span, or extends the last one if both are one. By default they are if they touch. */
export function addSpan(spans: Span[], span: Span, isOne = (last: Span): boolean => span.start <= last.end): void {
  const last = spans.at(-1)
  if (last === undefined || !isOne(last)) spans.push(span)
  else spans[spans.length - 1] = { start: last.start, end: Math.max(last.end, span.end) }
}

/** With more search texts than this, splitting the whole text into terms is cheaper. */
const NEEDLES_MAX = 16
const isAscii = /^[a-z\d]+$/

/**
 * The stretches of a text that may contain one of these terms, so the rest need not be split into terms. These are words
 * that contain a term, ignoring case, and words with non-ASCII characters, because their terms differ from their spelling.
 * In order, without overlap.
 * @param terms in lower case
 * @param wordsBefore how many words before each match belong to its stretch
 */
function nearStretches(text: string, terms: ReadonlySet<string>, wordsBefore: number): readonly Span[] {
  if (terms.size > NEEDLES_MAX) return [{ start: 0, end: text.length }]
  const sought = new RegExp([...[...terms].filter((term) => isAscii.test(term)), '[^\\0-\\x7f]'].join('|'), 'gi')
  const stretches: Span[] = []
  for (let found = sought.exec(text); found !== null; found = sought.exec(text)) {
    const start = startBefore(text, found.index, wordsBefore, stretches.at(-1)?.end ?? 0)
    const end = wordEnd(text, found.index)
    addSpan(stretches, { start, end })
    sought.lastIndex = end
  }
  return stretches
}

const isBreak = (text: string, at: number): boolean =>
  text.charCodeAt(at) < 0x80 && kindOf(text.charCodeAt(at)) === BREAK

/** @param from end of the former stretch; text before it is not examined */
function startBefore(text: string, at: number, words: number, from: number): number {
  let start = at
  for (let left = words; ; left -= 1) {
    while (start > from && !isBreak(text, start - 1)) start -= 1
    if (left === 0 || start === from) return start
    while (start > from && isBreak(text, start - 1)) start -= 1
  }
}

function wordEnd(text: string, at: number): number {
  let end = at + 1
  while (end < text.length && !isBreak(text, end)) end += 1
  return end
}
