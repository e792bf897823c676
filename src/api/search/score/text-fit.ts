import type { PhrasesMatch } from '../plan/match.ts'
import type { ColumnName } from '../../../text/terms/columns.ts'
import { createMatcher, type Span, type TermMatcher } from '../../../text/passages/matcher.ts'
import { isUnspacedSign } from '../../../text/terms/terms.ts'

/** The words of a query, and what finds them in a text, each under its number. */
export interface AskedWords {
  readonly words: readonly PhrasesMatch[]
  readonly matcher: TermMatcher
}

/** How well a text fits, each figure from 0 to 1. */
export interface TextFit {
  /** Of each word: 1 where it stands there as it was typed, less where only as a part of a longer name, 0 where not. */
  readonly words: readonly number[]
  /** Of each two words that follow each other in the query: 1 where they stand side by side. */
  readonly pairs: readonly number[]
}

/** In `ibisIndexBuilder` somebody who asks for `ibisIndex` finds something else. */
const PART_OF_NAME = 0.6
/** Said once is worth nine tenths of said often. */
const ONCE = 0.1
const TURNED = 0.7
const ACROSS_A_STOP = 0.8
/** So many letters between two words halve what their closeness is worth: two or three words. */
const HALF_GAP = 12
/** An unspaced sign is about a third of a word. */
const LETTERS_PER_SIGN = 3
const PLACES_MAX = 500

const isLetter = (text: string, at: number): boolean => /[\p{L}\p{M}\p{N}]/u.test(text.charAt(at))
const isJoint = (text: string, at: number): boolean => text.charAt(at) === '_' || text.charAt(at) === '-'
const stop = /[.,;:!?\n。、，；：！？]/

export function askWords(words: readonly PhrasesMatch[]): AskedWords {
  const spelt = words.filter((word) => word.phrases.length > 0)
  const phrases = spelt.flatMap(({ phrases: spellings, columns }, index) =>
    spellings.map((spelling) => ({ ...spelling, word: String(index), columns })),
  )
  return { words: spelt, matcher: createMatcher(phrases) }
}

/** @param column null for a title, in which every word counts that was asked of titles */
export function fitText(text: string, { words, matcher }: AskedWords, column: ColumnName | null): TextFit {
  const places: Span[][] = words.map(() => [])
  for (const { word, spans } of matcher.find(text, column ?? undefined)) {
    const own = places[word]
    if (own !== undefined && own.length < PLACES_MAX)
      own.push({ start: spans[0]?.start ?? 0, end: spans.at(-1)?.end ?? 0 })
  }
  for (const own of places) own.sort((a, b) => a.start - b.start)
  // A word with humps is met twice, as it is spelt and without them.
  const once = places.map((own) => own.filter(({ start }, index) => start !== own[index - 1]?.start))
  const edges = { starts: new Set<number>(), ends: new Set<number>() }
  for (const { start, end } of once.flat()) {
    edges.starts.add(start)
    edges.ends.add(end)
  }
  return {
    words: once.map((own, index) => fitWord(text, own, words[index], edges)),
    pairs: once.slice(1).map((right, index) => fitPair(text, once[index] ?? [], right)),
  }
}

/** Where any of the words begin and end. */
interface Edges {
  readonly starts: ReadonlySet<number>
  readonly ends: ReadonlySet<number>
}

function fitWord(text: string, places: readonly Span[], word: PhrasesMatch | undefined, edges: Edges): number {
  if (places.length === 0) return 0
  const isOpen = word?.phrases.some((phrase) => phrase.isPrefix) ?? false
  const fit = places.some((place) => isWhole(text, place, isOpen, edges)) ? 1 : PART_OF_NAME
  return fit * (1 - ONCE / places.length)
}

/**
 * Whether a name ends where the word does, or goes on with another of the words: `get user` is all of `getUser`.
 * @param isOpen only the beginning was asked for
 */
function isWhole(text: string, { start, end }: Span, isOpen: boolean, { starts, ends }: Edges): boolean {
  // Where words are not parted nothing says where a longer one begins.
  if (isUnspacedSign(text.charAt(start)) || isUnspacedSign(text.charAt(end - 1))) return true
  const comesFrom = isLetter(text, start - 1)
    ? start
    : isJoint(text, start - 1) && isLetter(text, start - 2)
      ? start - 1
      : null
  const goesOn = isLetter(text, end) ? end : isJoint(text, end) && isLetter(text, end + 1) ? end + 1 : null
  return (comesFrom === null || ends.has(comesFrom)) && (isOpen || goesOn === null || starts.has(goesOn))
}

/** Both lists are in order: each place is compared with its neighbours in the other list. */
function fitPair(text: string, lefts: readonly Span[], rights: readonly Span[]): number {
  let best = 0
  let next = 0
  for (const right of rights) {
    while (next < lefts.length && (lefts[next]?.start ?? 0) < right.start) next += 1
    const before = lefts[next - 1]
    const behind = lefts[next]
    if (before !== undefined) best = Math.max(best, closeness(text, before.end, right.start))
    if (behind !== undefined) best = Math.max(best, TURNED * closeness(text, right.end, behind.start))
    if (best === 1) break
  }
  return best
}

function closeness(text: string, from: number, to: number): number {
  if (to <= from) return 1
  const letters = to - from <= 2 ? text.slice(from, to) : text.slice(from, from + 1)
  const gap = (to - from) * (isUnspacedSign(letters.charAt(0)) ? LETTERS_PER_SIGN : 1)
  const isStopped = to - from <= 2 && stop.test(letters)
  return ((isStopped ? ACROSS_A_STOP : 1) * HALF_GAP) / (HALF_GAP + Math.max(0, gap - 1))
}
