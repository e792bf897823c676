import type { Mirror } from '../../mirror/open.ts'
import { isUnspacedSign } from '../../text/terms/terms.ts'
import { inflectionsOf, type Asked, type AskedWord, type Language } from './languages.ts'
import type { Plan } from './plan.ts'
import { anyOf, type QueryNode } from './query.ts'
import { askMessages, newestMessages, statementOf, type Newest, type Target } from './statement.ts'
import type { Signal } from './weigh-chats.ts'

/** A signal, and the plan by which it was read. */
export interface ReadSignal extends Signal {
  readonly plan: Plan
}

export interface ReadSignals {
  readonly signals: readonly ReadSignal[]
  /** Words that a chat may lack. A chat has a word if it has all signals of one of its groups. */
  readonly words: readonly { readonly text: string; readonly groups: readonly (readonly ReadSignal[])[] }[]
  /** Words that were not read, or only in part. */
  readonly leftOut: readonly string[]
}

/** How many messages are read for all words together, the newest of each word. Rare words are read first; common ones share the rest. */
const READ_MAX = 12_000
/** How many messages of each word are looked at to see how rare it is. */
const BEGUN_MAX = 64
/** Required parts are read further: a chat without them is not shown. */
const REQUIRED_READ_MAX = 20_000
/** How many words are read at most: the rarest ones. */
const WORDS_MAX = 24
/** A part of an identifier says less than a word of its own. */
const PART_WEIGHT = 0.5
/** A function word only decides between chats that are otherwise equal. */
const FUNCTION_WORD_WEIGHT = 0.02

type PlanFor = (node: QueryNode) => Plan

/** Reads which messages have the words. Function words are read only if nothing else is found. */
export function readSignals(db: Mirror, { words, required, language }: Asked, planFor: PlanFor): ReadSignals {
  const strict = required.map((node) => readSignal(db, { weight: 1, plan: planFor(node) }, REQUIRED_READ_MAX, true))
  const topic = words.filter(({ isFunctionWord }) => !isFunctionWord)
  const read = readWords(db, wantedOf(db, topic, language), planFor)
  const isAnyFound = [...read.signals, ...strict].some(
    ({ postings, titles }) => postings.messages.length + titles.length > 0,
  )
  const isEnough = isAnyFound || topic.length === words.length
  const all = isEnough ? read : readWords(db, wantedOf(db, words, language), planFor)
  return { ...all, signals: [...all.signals, ...strict] }
}

/** A signal that is still to be read. Words that share one share the object. */
interface Wanted {
  readonly text: string
  weight: number
  readonly node: QueryNode
}

/** A word with the groups of signals that show that a chat has it. */
interface WantedWord {
  readonly text: string
  readonly groups: readonly (readonly Wanted[])[]
}

function wantedOf(db: Mirror, words: readonly AskedWord[], language: Language): readonly WantedWord[] {
  const wanted = new Map<string, Wanted>()
  const want = (text: string, forms: readonly string[], weight: number): Wanted => {
    const node = anyOf(forms.map((form) => ({ kind: 'words', text: form, isPrefix: false })))
    const known = wanted.get(text) ?? { text, weight, node: node ?? { kind: 'words', text, isPrefix: false } }
    known.weight = Math.max(known.weight, weight)
    wanted.set(text, known)
    return known
  }
  return words.map(({ text, terms, isFunctionWord }) => {
    const weight = isFunctionWord ? FUNCTION_WORD_WEIGHT : 1
    const [only = ''] = terms
    const isUnspaced = isUnspacedSign(Array.from(only)[0] ?? '')
    if (terms.length === 1 && !isUnspaced) {
      return { text, groups: [[want(only, inflectionsOf(db, only, language), weight)]] }
    }
    const parts = isUnspaced ? [] : terms.filter((term) => !language.functionWords.has(term))
    const ofParts = parts.map((term) => want(term, inflectionsOf(db, term, language), weight * PART_WEIGHT))
    return { text, groups: [[want(text, [text], weight)], ...(ofParts.length === 0 ? [] : [ofParts])] }
  })
}

function readWords(db: Mirror, words: readonly WantedWord[], planFor: PlanFor): ReadSignals {
  const rarest = [...new Set(words.flatMap(({ groups }) => groups.flat()))]
    .map((wanted) => {
      const plan = planFor(wanted.node)
      return { wanted, plan, reach: reachOf(newestMessages(db, plan.messages, BEGUN_MAX)) }
    })
    .toSorted((one, other) => one.reach - other.reach)
  const read = new Map<Wanted, ReadSignal>()
  let left = READ_MAX
  for (const [at, { wanted, plan }] of rarest.slice(0, WORDS_MAX).entries()) {
    const share = Math.max(BEGUN_MAX, Math.floor(left / (Math.min(WORDS_MAX, rarest.length) - at)))
    const signal = readSignal(db, { weight: wanted.weight, plan }, share, false)
    left -= signal.postings.messages.length
    read.set(wanted, signal)
  }
  const leftOut = rarest.filter(({ wanted }) => read.get(wanted)?.postings.isWhole !== true)
  return {
    signals: [...read.values()],
    // If a word was not read, it is unknown which chats have it.
    words: words.flatMap(({ text, groups }) => {
      const whole = groups
        .map((group) => group.flatMap((wanted) => read.get(wanted) ?? []))
        .filter((group, at) => group.length === groups[at]?.length)
      return whole.length === 0 ? [] : [{ text, groups: whole }]
    }),
    leftOut: [...new Set(leftOut.map(({ wanted }) => wanted.text))],
  }
}

function readSignal(
  db: Mirror,
  { weight, plan }: Pick<ReadSignal, 'weight' | 'plan'>,
  most: number,
  isRequired: boolean,
): ReadSignal {
  const postings = readPostings(db, plan.messages, most)
  return { weight, plan, isRequired, postings, titles: readTitles(db, plan.titles) }
}

/** How far back the newest messages with a word reach: the further, the rarer the word. Rarest is one with fewer messages than that. */
const reachOf = ({ keys, isWhole }: Newest): number => (isWhole ? keys.length - BEGUN_MAX : (keys.at(-1) ?? 0))

export interface Posting {
  readonly key: number
  readonly chat: number
  /** How much of the signal the message has, by bm25; 1 is the average. */
  readonly amount: number
}

/** The messages with a signal, the newest first. */
export interface Postings {
  readonly messages: readonly Posting[]
  /** Whether these are all of them. */
  readonly isWhole: boolean
}

// Columns in the order of the table: text, thinking, code, tool, attachment, plan, summary, marks.
const AMOUNT = `-bm25(message_terms, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0)`

/** @param most messages */
function readPostings(db: Mirror, target: Target, most: number): Postings {
  if (target.match === null || !target.isPossible) return { messages: [], isWhole: true }
  const columns = `message_terms.rowid as key, m.chat, ${AMOUNT} as amount`
  const { sql, values } = askMessages(target, { columns, order: 'newest', isOfMessage: true })
  const messages = statementOf<Posting>(db, sql).all(...values, most)
  const mean = messages.reduce((sum, { amount }) => sum + amount, 0) / messages.length
  const even = messages.map((one) => ({ ...one, amount: mean > 0 ? one.amount / mean : 1 }))
  return { messages: even, isWhole: messages.length < most }
}

/** How many chats are looked up by their titles at most. */
const TITLES_MAX = 300

/** The newest chats with a match in title or summary. Some of them may have no message that passes the filters. */
function readTitles(db: Mirror, { match, rest, isPossible }: Target): readonly number[] {
  if (match === null || !isPossible) return []
  const tests = rest.flatMap((part) => (part.kind === 'chats' ? [part] : []))
  const isOf = tests.map(({ sql }) => `and +rowid in (select c.num from chats c where ${sql})`)
  const sql = `
    select rowid from chat_terms where chat_terms match ? ${isOf.join(' ')} order by rowid desc limit ${TITLES_MAX}
  `
  return statementOf<number>(db, sql, 'values').all(match, ...tests.flatMap(({ values }) => values))
}
