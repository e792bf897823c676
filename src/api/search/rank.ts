import type { Mirror } from '../../mirror/open.ts'
import { parseParts } from '../../mirror/write/pack-message.ts'
import type { Part } from '../../model/part.ts'
import { closeExpressions, phrasesExpression, wantedWords, type Words } from './condition.ts'
import type { Plan } from './plan.ts'
import { askMessages, keysOf, statementOf, type Target } from './statement.ts'
import { SLOTS_PER_MS } from '../../mirror/write/messages.ts'
import { searchablePieces, type ColumnName } from '../../text/terms/columns.ts'
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
const UNITS_MAX = 20_000

/** All scores are 0 and above, higher is better. */
export interface Scorer {
  /**
   * @param title of the message's chat
   * @returns also the score of the chat by its title alone; 0 if the title lacks a word
   */
  readonly scoreMessage: (key: number, parts: readonly Part[], title: string) => { score: number; titleScore: number }
  readonly scoreTitle: (key: number, title: string, summary: string | null) => number
}

/** Scores messages and titles on one scale. @param nowMs the present, for recency */
export function createScorer(wanted: readonly Words[], nowMs: number): Scorer {
  const spelt = wanted.filter((word) => word.phrases.length > 0)
  const phrases = spelt.flatMap(({ phrases: spellings, columns }, index) =>
    spellings.map((spelling) => ({ ...spelling, word: String(index), columns })),
  )
  const asked: AskedWords = { words: spelt, matcher: createMatcher(phrases) }
  const score = (key: number, fits: readonly TextFit[]): number => {
    const words = asked.words.map((_, at) => bestOf(fits, (fit) => fit.words[at], UNSEEN_FIT))
    const pairs = asked.words.slice(1).map((_, at) => bestOf(fits, (fit) => fit.pairs[at], 0))
    return mean(words) + CLOSENESS_WEIGHT * mean(pairs) + RECENCY_WEIGHT * recency(key, nowMs)
  }
  return {
    scoreMessage: (key, parts, title) => {
      const fits = parts.flatMap((part) => fitPart(part, asked))
      const own = fitText(title, asked, null)
      const hasAllWords = own.words.every((figure) => figure > 0)
      return {
        score: score(key, fits) + OWN_TITLE_WEIGHT * mean(own.words),
        titleScore: hasAllWords ? score(key, [weighedBy(own, TITLE_WEIGHT)]) : 0,
      }
    },
    scoreTitle: (key, title, summary) =>
      score(key, [
        weighedBy(fitText(title, asked, null), TITLE_WEIGHT),
        ...(summary === null ? [] : [weighedBy(fitText(summary, asked, null), SUMMARY_WEIGHT)]),
      ]),
  }
}

/** The best match in any part. */
const bestOf = (fits: readonly TextFit[], of: (fit: TextFit) => number | undefined, least: number): number =>
  fits.reduce((most, fit) => Math.max(most, of(fit) ?? 0), least)

const mean = (figures: readonly number[]): number =>
  figures.length === 0 ? 0 : figures.reduce((sum, figure) => sum + figure, 0) / figures.length

function fitPart(part: Part, asked: AskedWords): readonly TextFit[] {
  return searchablePieces(part).flatMap(({ text, column }) => {
    const fit = fitText(text.slice(0, UNITS_MAX), asked, column)
    if (!fit.words.some((figure) => figure > 0)) return []
    const focus = 1 / (1 + LENGTH_LOSS * Math.log10(1 + text.length / LENGTH_STEP))
    return [weighedBy(fit, PART_WEIGHTS[column] * focus)]
  })
}

const weighedBy = ({ words, pairs }: TextFit, weight: number): TextFit => ({
  words: words.map((figure) => figure * weight),
  pairs: pairs.map((figure) => figure * weight),
})

function recency(key: number, nowMs: number): number {
  const ageMs = Math.max(0, nowMs - key / SLOTS_PER_MS)
  return 2 ** (-ageMs / HALF_LIFE_MS)
}

/** The words of a query, and a matcher that finds them in a text, each by its number. */
interface AskedWords {
  readonly words: readonly Words[]
  readonly matcher: TermMatcher
}

/** How well a text matches. All numbers are from 0 to 1. */
interface TextFit {
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

/** @param column null for a title, where all words count */
function fitText(text: string, { words, matcher }: AskedWords, column: ColumnName | null): TextFit {
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
  const fit = places.some((place) => isWholeWord(text, place, isOpen, edges)) ? 1 : PART_OF_NAME
  return fit * (1 - ONCE / places.length)
}

/**
 * Whether the word is a whole name, or the rest of the name consists of other words of the query: `get user` is all of
 * `getUser`.
 * @param isOpen whether the query has only the beginning of the word
 */
function isWholeWord(text: string, { start, end }: Span, isOpen: boolean, { starts, ends }: Edges): boolean {
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

export interface RankedMessage {
  readonly key: number
  /** Higher is better. */
  readonly score: number
  /** Its parts, if it was read. */
  readonly parts?: readonly Part[]
}

export interface Ranking {
  /** The best first. */
  readonly messages: readonly RankedMessage[]
  /** Keys of the newest matches, the newest first. */
  readonly newest: readonly number[]
  /** Whether these are all matches. */
  readonly isWhole: boolean
}

/** How many of the newest matches are ranked. Older ones follow by time. */
export const RANKED_MAX = 1500
/** How many of the best of them are read. */
export const READ_MAX = 48
/** Of so many, all are read. Of the rest, those that the index weighs at least half as much as the best. */
const READ_MIN = 20
const WEIGHT_MIN = 0.5
/** How many matches with adjacent words are read, the newest of all matches. */
const CLOSE_MAX = 30

/**
 * Ranks the matches. The index chooses which of the newest matches are read. Those are scored by where the words are,
 * how close together and how exact.
 */
export function rankMatches(db: Mirror, plan: Plan, scorer: Scorer): Ranking {
  const weighed = weighMatches(db, plan)
  const newest = weighed.slice(0, RANKED_MAX)
  const isWhole = weighed.length <= RANKED_MAX
  const sorted = newest.toSorted(byScore)
  const least = WEIGHT_MIN * (sorted[0]?.score ?? 0)
  const promising = sorted
    .slice(0, READ_MAX)
    .filter(({ score }, at) => at < READ_MIN || score >= least)
    .map(({ key }) => key)
  const close = promising.length === newest.length && isWhole ? [] : closeMessages(db, plan)
  const read = readMessages(db, [...new Set([...promising, ...close])], scorer)
  const known = new Set(read.map(({ key }) => key))
  const lowest = read.reduce((score, message) => Math.min(score, message.score), Infinity)
  // Messages that were not read are ranked after those that were. They are sorted already, except for rounding.
  const unread = sorted
    .filter(({ key }) => !known.has(key))
    .map(({ key, score }) => ({ key, score: (lowest * score) / (1 + score) }))
  const messages = [...read.toSorted(byScore), ...unread.toSorted(byScore)]
  return { messages, newest: newest.map(({ key }) => key), isWhole }
}

const byScore = (a: RankedMessage, b: RankedMessage): number => b.score - a.score || b.key - a.key

// One word in the text outweighs any number of them in tool output. So the text column has its own bm25.
// Columns in the order of the table: text, thinking, code, tool, attachment, plan, summary, marks.
const WEIGHT = `
  bm25(message_terms, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    + 0.4 * bm25(message_terms, 0.0, 0.5, 0.8, 0.35, 0.3, 0.6, 0.4, 0.0)
`

/** The newest matches with their scores by the index, newest first. One more than are ranked. */
function weighMatches(db: Mirror, { condition, messages }: Plan): readonly RankedMessage[] {
  const words = wantedWords(condition)
  const isDriven = messages.match !== null && words.length > 0
  // If all are read, they need no weight: bm25 would count all matches of each word. A prefix would be merged twice.
  if (!isDriven || !messages.isCostly) {
    const keys = keysOf(db, messages, isDriven ? READ_MAX + 1 : RANKED_MAX + 1)
    if (words.length === 0 || keys.length <= READ_MAX) return keys.map((key) => ({ key, score: 0 }))
    if (!isDriven) {
      // Of such alternatives as `queue OR role:user`, some rows have a word.
      const match = words.map((word) => phrasesExpression(word, word.phrases)).join(' OR ')
      const weights = new Map(weigh(db, { ...messages, match, rest: [] }).map(({ key, score }) => [key, score]))
      return keys.map((key) => ({ key, score: weights.get(key) ?? 0 }))
    }
  }
  return weigh(db, messages)
}

function weigh(db: Mirror, target: Target): readonly RankedMessage[] {
  const { sql, values } = askMessages(target, { columns: `message_terms.rowid, ${WEIGHT}`, order: 'newest' })
  const weighed = statementOf<[number, number | null]>(db, sql, 'lists').all(...values, RANKED_MAX + 1)
  return weighed.map(([key, weight]) => ({ key, score: Math.max(0, -(weight ?? 0)) }))
}

/** Matches with two adjacent words. If there are too many to read, also those with all words in a row. */
function closeMessages(db: Mirror, { condition, messages }: Plan): readonly number[] {
  const { pairs, row } = closeExpressions(condition)
  if (pairs === null || messages.match === null) return []
  const close = keysOf(db, messages, CLOSE_MAX, { besides: pairs })
  return close.length < CLOSE_MAX || row === null
    ? close
    : [...close, ...keysOf(db, messages, CLOSE_MAX, { besides: row })]
}

const SELECT_BODIES = `
  select m.key, m.chat, b.parts, c.title
  from json_each(?) k
  cross join messages m on m.key = k.value
  cross join bodies b on b.num = m.body
  cross join chats c on c.num = m.chat
`

/** The best message of a chat also represents its title. It is ranked no lower than a title without matching messages. */
function readMessages(db: Mirror, keys: readonly number[], scorer: Scorer): readonly RankedMessage[] {
  const rows = statementOf<{ key: number; chat: number; parts: string; title: string }>(db, SELECT_BODIES)
  const read = rows.all(JSON.stringify(keys)).map(({ key, chat, parts: json, title }) => {
    const parts = parseParts(json)
    return { key, chat, parts, ...scorer.scoreMessage(key, parts, title) }
  })
  const best = new Map<number, RankedMessage>()
  for (const message of read) {
    const other = best.get(message.chat)
    if (other === undefined || byScore(message, other) < 0) best.set(message.chat, message)
  }
  return read.map(({ key, chat, score, titleScore, parts }) => ({
    key,
    parts,
    score: best.get(chat)?.key === key ? Math.max(score, titleScore) : score,
  }))
}
