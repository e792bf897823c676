import type { Mirror } from '../../../mirror/open.ts'
import type { Part } from '../../../model/part.ts'
import { newestMessages, type Newest } from './count-messages.ts'
import type { Deadline } from '../deadline.ts'
import { matchSource } from '../plan/branch-sql.ts'
import type { Branch, KeyRange } from '../plan/branch.ts'
import type { Scorer } from '../scorer.ts'
import { walkMessages } from './walk.ts'
import { rowsOf } from './statement.ts'
import { stepThrough, type Steps } from './steps.ts'
import { parseParts } from '../../../mirror/write/pack-message.ts'

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
export const RANKED_MAX = 2000
/** How many of the best of them are read. */
export const READ_MAX = 64
/** How many matches with adjacent words are read, the newest of all matches. */
export const CLOSE_MAX = 30

/**
 * Ranks the matches. The index chooses which of the newest matches are read. Those are scored by where the words are,
 * how close together and how exact.
 */
export function rankMatches(db: Mirror, branches: readonly Branch[], scorer: Scorer, deadline: Deadline): Ranking {
  const weighed = weighMatches(db, branches, deadline)
  const newest = weighed.slice(0, RANKED_MAX)
  const isWhole = weighed.length <= RANKED_MAX && !deadline.hasPassed()
  const sorted = newest.toSorted(byScore)
  const promising = sorted.slice(0, READ_MAX)
  const isAllRead = promising.length === newest.length && isWhole
  const close = isAllRead ? [] : branches.flatMap((branch) => closeMessages(db, branch, deadline))
  const read = readMessages(db, new Set([...promising.map(({ key }) => key), ...close]), scorer, deadline)
  const known = new Set(read.map(({ key }) => key))
  const least = read.reduce((score, message) => Math.min(score, message.score), Infinity)
  // Messages that were not read are ranked after those that were. They are sorted already, except for rounding.
  const unread = sorted
    .filter(({ key }) => !known.has(key))
    .map(({ key, score }) => ({ key, score: Number.isFinite(least) ? (least * score) / (1 + score) : score }))
  const messages = [...read.toSorted(byScore), ...unread.toSorted(byScore)]
  return { messages, newest: newest.map(({ key }) => key), isWhole }
}

const byScore = (a: RankedMessage, b: RankedMessage): number => b.score - a.score || b.key - a.key

/** The newest matches with their scores by the index, newest first. One more than are ranked. */
function weighMatches(db: Mirror, branches: readonly Branch[], deadline: Deadline): readonly RankedMessage[] {
  const [only] = branches
  if (branches.length === 1 && only !== undefined) return weighBranch(db, only, deadline)
  const best = new Map<number, number>()
  for (const { key, score } of branches.flatMap((branch) => weighBranch(db, branch, deadline))) {
    best.set(key, Math.max(score, best.get(key) ?? score))
  }
  const messages = [...best].map(([key, score]) => ({ key, score })).sort((a, b) => b.key - a.key)
  return messages.slice(0, RANKED_MAX + 1)
}

// One word in the text outweighs any number of them in tool output. So the text column has its own bm25.
// Columns in the order of the table: text, thinking, code, tool, attachment, plan, summary, marks.
const WEIGHT = `
  bm25(message_terms, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    + 0.4 * bm25(message_terms, 0.0, 0.5, 0.8, 0.35, 0.3, 0.6, 0.4, 0.0)
`

/** Higher than any bm25: matches that are so few are always read. */
const FEW_SCORE = 1000

function weighBranch(db: Mirror, branch: Branch, deadline: Deadline): readonly RankedMessage[] {
  const newest = (rows: number): Newest => newestMessages(db, [branch], rows, deadline)
  if (branch.match === null || !branch.hasWords) return newest(RANKED_MAX + 1).keys.map((key) => ({ key, score: 0 }))
  const bounds = { low: branch.low, high: branch.high }
  // In each statement, bm25 counts all matches before it returns the first, and a prefix is merged again.
  if (branch.isCostly && branch.keys === null) return weighRange(db, branch, bounds, deadline)
  const isOneRange = branch.ranges.length === 1
  const { keys } = newest(isOneRange ? READ_MAX + 1 : RANKED_MAX + 1)
  if (keys.length <= READ_MAX) return keys.map((key) => ({ key, score: FEW_SCORE }))
  return weighRange(db, isOneRange ? branch : { ...branch, keys }, bounds, deadline)
}

function weighRange(db: Mirror, branch: Branch, { low, high }: KeyRange, deadline: Deadline): readonly RankedMessage[] {
  const weighed: RankedMessage[] = []
  const { passes, from, params } = matchSource(branch)
  const isTested = passes !== '1'
  const weight = `coalesce(${WEIGHT}, 0)`
  const select = `
    select message_terms.rowid as key, ${isTested ? `case when ${passes} then ${weight} end` : weight} as weight
    ${from}
    order by message_terms.rowid desc
  `
  const steps: Steps = {
    select,
    params: { match: branch.match, ...params },
    ranges: [{ low, high }],
    order: 'newest',
    passes: isTested ? (figure) => figure !== null : null,
    isCostly: branch.isCostly,
  }
  for (const [key, figure] of stepThrough(db, steps, deadline, RANKED_MAX + 1)) {
    weighed.push({ key, score: Math.max(0, -(figure ?? 0)) })
    if (weighed.length > RANKED_MAX) break
  }
  return weighed
}

/** Matches with two adjacent words. If there are too many to read, also those with all words in a row. */
function closeMessages(db: Mirror, branch: Branch, deadline: Deadline): readonly number[] {
  const close = newestWith(db, branch, branch.closeMatch, deadline)
  return close.length < CLOSE_MAX ? close : [...close, ...newestWith(db, branch, branch.wholeMatch, deadline)]
}

function newestWith(db: Mirror, branch: Branch, match: string | null, deadline: Deadline): readonly number[] {
  if (match === null || deadline.isPassed()) return []
  const keys: number[] = []
  for (const key of walkMessages(db, [{ ...branch, match }], 'newest', deadline, CLOSE_MAX)) {
    keys.push(key)
    if (keys.length >= CLOSE_MAX) break
  }
  return keys
}

const SELECT_BODIES = `
  select m.key, m.chat, b.parts, c.title
  from json_each(@keys) k
  cross join messages m on m.key = k.value
  cross join bodies b on b.num = m.body
  cross join chats c on c.num = m.chat
`

/** If time runs out, fewer messages are returned. */
function readMessages(
  db: Mirror,
  keys: ReadonlySet<number>,
  scorer: Scorer,
  deadline: Deadline,
): readonly RankedMessage[] {
  const statement = rowsOf<{ key: number; chat: number; parts: string; title: string }>(db, SELECT_BODIES)
  const read: ReadMessage[] = []
  for (const { key, chat, parts, title } of statement.iterate({ keys: JSON.stringify([...keys]) })) {
    const body = parseParts(parts)
    read.push({ key, chat, parts: body, ...scorer.scoreMessage(key, body, title) })
    if (deadline.isPassed()) break
  }
  return withTitles(read)
}

interface ReadMessage extends RankedMessage {
  readonly parts: readonly Part[]
  readonly chat: number
  readonly titleScore: number
}

/** The best message of a chat also represents its title. It is ranked no lower than a title without matching messages. */
function withTitles(read: readonly ReadMessage[]): readonly RankedMessage[] {
  const best = new Map<number, ReadMessage>()
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
