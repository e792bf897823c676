import type { Mirror } from '../../mirror/open.ts'
import { parseParts } from '../../mirror/write/pack-message.ts'
import type { Part } from '../../model/part.ts'
import { closeExpressions, phrasesExpression, wantedWords } from './condition.ts'
import type { Plan } from './plan.ts'
import type { Scorer } from './scorer.ts'
import { askMessages, keysOf, statementOf, type Target } from './statement.ts'

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
