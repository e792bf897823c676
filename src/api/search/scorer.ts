import { SLOTS_PER_MS } from '../../mirror/write/messages.ts'
import type { Part } from '../../model/part.ts'
import { searchablePieces, type ColumnName } from '../../text/terms/columns.ts'
import type { Words } from './condition.ts'
import { createMatcher, type Span, type TermMatcher } from '../../text/passages/matcher.ts'
import { isUnspacedSign } from '../../text/terms/terms.ts'

/** Written text counts most, tool output and attachments least: a long output contains any word, and often. */
const PART_WEIGHTS: Readonly<Record<ColumnName, number>> = {
  text: 1,
  code: 0.8,
  thinking: 0.5,
  tool: 0.35,
  attachment: 0.3,
  plan: 0.6,
  summary: 0.4,
}
/** A title summarizes the whole chat. */
const TITLE_WEIGHT = 1.3
const SUMMARY_WEIGHT = 0.9
/** Adjacent words count nearly as much as the words themselves. */
const CLOSENESS_WEIGHT = 0.8
/** What a chat's title adds to the score of its messages. */
const OWN_TITLE_WEIGHT = 0.2
/** Only decides between messages that match equally well: less than an exactly matching word. */
const RECENCY_WEIGHT = 0.05
const HALF_LIFE_MS = 180 * 86_400_000
/** The index found the word, but beyond the part of the text that is read. So it is far from the other words. */
const UNSEEN_FIT = 0.1
/** UTF-16 units. A text of this length counts nine tenths of a short one, and one of ten times this length about eight. */
const LENGTH_STEP = 1000
const LENGTH_LOSS = 0.3
/** How many UTF-16 units of one part are read. */
const READ_MAX = 20_000

/** 0 and above, higher is better. */
interface MessageScore {
  readonly score: number
  /** The score of the chat by its title alone; 0 if the title lacks a word. */
  readonly titleScore: number
}

export interface Scorer {
  /** @param title of the message's chat */
  readonly scoreMessage: (key: number, parts: readonly Part[], title: string) => MessageScore
  readonly scoreTitle: (key: number, title: string, summary: string | null) => number
}

/** Scores messages and titles on one scale. @param nowMs the present, for recency */
export function createScorer(asked: AskedWords, nowMs: number): Scorer {
  const score = (key: number, fits: readonly TextFit[]): number => {
    const words = asked.words.map((_, at) => best(fits, (fit) => fit.words[at], UNSEEN_FIT))
    const pairs = asked.words.slice(1).map((_, at) => best(fits, (fit) => fit.pairs[at], 0))
    return mean(words) + CLOSENESS_WEIGHT * mean(pairs) + RECENCY_WEIGHT * recency(key, nowMs)
  }
  return {
    scoreMessage: (key, parts, title) => {
      const fits = parts.flatMap((part) => fitPart(part, asked))
      const own = fitText(title, asked, null)
      const hasAllWords = own.words.every((figure) => figure > 0)
      return {
        score: score(key, fits) + OWN_TITLE_WEIGHT * mean(own.words),
        titleScore: hasAllWords ? score(key, [weighed(own, TITLE_WEIGHT)]) : 0,
      }
    },
    scoreTitle: (key, title, summary) =>
      score(key, [
        weighed(fitText(title, asked, null), TITLE_WEIGHT),
        ...(summary === null ? [] : [weighed(fitText(summary, asked, null), SUMMARY_WEIGHT)]),
      ]),
  }
}

/** The best match in any part. */
const best = (fits: readonly TextFit[], of: (fit: TextFit) => number | undefined, least: number): number =>
  fits.reduce((most, fit) => Math.max(most, of(fit) ?? 0), least)

const mean = (figures: readonly number[]): number =>
  figures.length === 0 ? 0 : figures.reduce((sum, figure) => sum + figure, 0) / figures.length

function fitPart(part: Part, asked: AskedWords): readonly TextFit[] {
  return searchablePieces(part).flatMap(({ text, column }) => {
    const fit = fitText(text.slice(0, READ_MAX), asked, column)
    if (!fit.words.some((figure) => figure > 0)) return []
    const focus = 1 / (1 + LENGTH_LOSS * Math.log10(1 + text.length / LENGTH_STEP))
    return [weighed(fit, PART_WEIGHTS[column] * focus)]
  })
}

const weighed = ({ words, pairs }: TextFit, weight: number): TextFit => ({
  words: words.map((figure) => figure * weight),
  pairs: pairs.map((figure) => figure * weight),
})

function recency(key: number, nowMs: number): number {
  const ageMs = Math.max(0, nowMs - key / SLOTS_PER_MS)
  return 2 ** (-ageMs / HALF_LIFE_MS)
}

/** The words of a query, and a matcher that finds them in a text, each by its number. */
export interface AskedWords {
  readonly words: readonly Words[]
  readonly matcher: TermMatcher
}

/** How well a text matches. All numbers are from 0 to 1. */
export interface TextFit {
  /** Per word: 1 if the text has it as typed, less if only within a longer name, 0 if not at all. */
  readonly words: readonly number[]
  /** Per two consecutive words of the query: 1 if they are adjacent. */
  readonly pairs: readonly number[]
}

/** `ibisIndexBuilder` is something else than `ibisIndex`. */
const PART_OF_NAME = 0.6
/** A single occurrence counts nine tenths of many. */
const ONCE = 0.1
/** Factor for two words in reverse order. */
const REVERSED = 0.7
const ACROSS_A_STOP = 0.8
/** This many letters between two words halve their closeness. That is two or three words. */
const HALF_GAP = 12
/** A character of an unspaced script counts like this many letters: it is about a third of a word. */
const LETTERS_PER_UNSPACED = 3
const PLACES_MAX = 500

const isLetter = (text: string, at: number): boolean => /[\p{L}\p{M}\p{N}]/u.test(text.charAt(at))
const isJoint = (text: string, at: number): boolean => text.charAt(at) === '_' || text.charAt(at) === '-'
const stop = /[.,;:!?\n。、，；：！？]/

export function askWords(words: readonly Words[]): AskedWords {
  const spelt = words.filter((word) => word.phrases.length > 0)
  const phrases = spelt.flatMap(({ phrases: spellings, columns }, index) =>
    spellings.map((spelling) => ({ ...spelling, word: String(index), columns })),
  )
  return { words: spelt, matcher: createMatcher(phrases) }
}

/** @param column null for a title, where all words count */
export function fitText(text: string, { words, matcher }: AskedWords, column: ColumnName | null): TextFit {
  const places: Span[][] = words.map(() => [])
  for (const { word, spans } of matcher.find(text, column ?? undefined)) {
    const own = places[word]
    if (own !== undefined && own.length < PLACES_MAX)
      own.push({ start: spans[0]?.start ?? 0, end: spans.at(-1)?.end ?? 0 })
  }
  for (const own of places) own.sort((a, b) => a.start - b.start)
  // A camelCase word is found twice: as written, and in lower case.
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

/** Where the words begin and end. */
interface Edges {
  readonly starts: ReadonlySet<number>
  readonly ends: ReadonlySet<number>
}

function fitWord(text: string, places: readonly Span[], word: Words | undefined, edges: Edges): number {
  if (places.length === 0) return 0
  const isOpen = word?.phrases.some((phrase) => phrase.isPrefix) ?? false
  const fit = places.some((place) => isWhole(text, place, isOpen, edges)) ? 1 : PART_OF_NAME
  return fit * (1 - ONCE / places.length)
}

/**
 * Whether the word is a whole name, or the rest of the name consists of other words of the query: `get user` is all of
 * `getUser`.
 * @param isOpen whether the query has only the beginning of the word
 */
function isWhole(text: string, { start, end }: Span, isOpen: boolean, { starts, ends }: Edges): boolean {
  // Unspaced scripts do not show where a longer word begins.
  if (isUnspacedSign(text.charAt(start)) || isUnspacedSign(text.charAt(end - 1))) return true
  const comesFrom = isLetter(text, start - 1)
    ? start
    : isJoint(text, start - 1) && isLetter(text, start - 2)
      ? start - 1
      : null
  const goesOn = isLetter(text, end) ? end : isJoint(text, end) && isLetter(text, end + 1) ? end + 1 : null
  return (comesFrom === null || ends.has(comesFrom)) && (isOpen || goesOn === null || starts.has(goesOn))
}

/** Both lists are sorted. Each place is compared with its neighbours in the other list. */
function fitPair(text: string, lefts: readonly Span[], rights: readonly Span[]): number {
  let closest = 0
  let next = 0
  for (const right of rights) {
    while (next < lefts.length && (lefts[next]?.start ?? 0) < right.start) next += 1
    const before = lefts[next - 1]
    const behind = lefts[next]
    if (before !== undefined) closest = Math.max(closest, closeness(text, before.end, right.start))
    if (behind !== undefined) closest = Math.max(closest, REVERSED * closeness(text, right.end, behind.start))
    if (closest === 1) break
  }
  return closest
}

function closeness(text: string, from: number, to: number): number {
  if (to <= from) return 1
  const letters = to - from <= 2 ? text.slice(from, to) : text.slice(from, from + 1)
  const gap = (to - from) * (isUnspacedSign(letters.charAt(0)) ? LETTERS_PER_UNSPACED : 1)
  const isStopped = to - from <= 2 && stop.test(letters)
  return ((isStopped ? ACROSS_A_STOP : 1) * HALF_GAP) / (HALF_GAP + Math.max(0, gap - 1))
}
