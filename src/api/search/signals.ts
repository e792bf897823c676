import type { Mirror } from '../../mirror/open.ts'
import { isUnspacedSign } from '../../text/terms/terms.ts'
import { inflectionsOf, type Asked, type AskedWord, type Language } from './languages.ts'
import type { Plan } from './plan.ts'
import { anyOf, type QueryNode } from './query.ts'
import { newestMessages, type Newest } from './rows.ts'
import { askMessages, statementOf, type Target } from './statement.ts'
import type { Signal } from './weigh-chats.ts'

/** A signal, and the plan by which it was read. */
export interface ReadSignal extends Signal {
  readonly plan: Plan
}

export interface ReadSignals {
  readonly signals: readonly ReadSignal[]
  /** Words that a chat may lack. A chat has a word if it has all signals of one of its groups. A group is a list of indexes in `signals`. */
  readonly words: readonly { readonly text: string; readonly groups: readonly (readonly number[])[] }[]
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
export function readSignals(db: Mirror, asked: Asked, planFor: PlanFor): ReadSignals {
  const required = asked.required.map((node): ReadSignal => {
    const plan = planFor(node)
    const postings = readPostings(db, plan.messages, REQUIRED_READ_MAX)
    return { weight: 1, plan, isRequired: true, postings, titles: readTitles(db, plan.titles) }
  })
  const topic = asked.words.filter(({ isFunctionWord }) => !isFunctionWord)
  const read = readWords(db, wantedOf(db, topic, asked.language), planFor)
  const isAnyFound = [...read.signals, ...required].some(
    ({ postings, titles }) => postings.messages.length + titles.length > 0,
  )
  const isEnough = isAnyFound || topic.length === asked.words.length
  const all = isEnough ? read : readWords(db, wantedOf(db, asked.words, asked.language), planFor)
  return { ...all, signals: [...all.signals, ...required] }
}

/** A signal that is still to be read. */
interface Wanted {
  readonly text: string
  readonly weight: number
  readonly node: QueryNode
}

interface WantedWords {
  readonly wanted: ReadonlyMap<string, Wanted>
  /** For each word, the groups of keys in `wanted` that show that a chat has it. */
  readonly words: readonly { readonly text: string; readonly groups: readonly (readonly string[])[] }[]
}

function wantedOf(db: Mirror, words: readonly AskedWord[], language: Language): WantedWords {
  const wanted = new Map<string, Wanted>()
  const want = (text: string, forms: readonly string[], weight: number): string => {
    const key = forms[0] ?? text
    const before = wanted.get(key)
    if (before === undefined || before.weight < weight) {
      const node = anyOf(forms.map((form) => ({ kind: 'words', text: form, isPrefix: false }) as const))
      if (node !== null) wanted.set(key, { text, weight, node })
    }
    return key
  }
  const read = words.map(({ text, terms, isFunctionWord }) => {
    const weight = isFunctionWord ? FUNCTION_WORD_WEIGHT : 1
    const [only = ''] = terms
    if (terms.length === 1 && !isUnspaced(only))
      return { text, groups: [[want(text, inflectionsOf(db, only, language), weight)]] }
    const whole = want(text, [text], weight)
    const parts = isUnspaced(only)
      ? []
      : terms
          .filter((term) => !language.functionWords.has(term))
          .map((term) => want(term, inflectionsOf(db, term, language), weight * PART_WEIGHT))
    return { text, groups: parts.length === 0 ? [[whole]] : [[whole], parts] }
  })
  return { wanted, words: read }
}

const isUnspaced = (term: string): boolean => isUnspacedSign(Array.from(term)[0] ?? '')

function readWords(db: Mirror, { wanted, words }: WantedWords, planFor: PlanFor): ReadSignals {
  const begun = [...wanted].map(([key, { text, weight, node }]) => {
    const plan = planFor(node)
    return { key, text, weight, plan, newest: newestMessages(db, plan.messages, BEGUN_MAX) }
  })
  const rarest = begun.toSorted((one, other) => reachOf(one.newest) - reachOf(other.newest)).slice(0, WORDS_MAX)
  let left = READ_MAX
  const read = rarest.map(({ key, weight, plan }, at) => {
    const share = Math.max(BEGUN_MAX, Math.floor(left / (rarest.length - at)))
    const postings = readPostings(db, plan.messages, share)
    left -= postings.messages.length
    return { key, weight, plan, isRequired: false, postings, titles: readTitles(db, plan.titles) }
  })
  const places = new Map(read.map(({ key }, place) => [key, place]))
  const placed = words.map(({ text, groups }) => ({
    text,
    groups: groups
      .map((keys) => keys.flatMap((key) => places.get(key) ?? []))
      .filter((group, at) => group.length === groups[at]?.length),
  }))
  // If a word was not read, it is unknown which chats have it.
  const known = placed.filter(({ groups }) => groups.length > 0)
  const leftOut = begun.flatMap(({ key, text }) =>
    read[places.get(key) ?? -1]?.postings.isWhole === true ? [] : [text],
  )
  return { signals: read, words: known, leftOut: [...new Set(leftOut)] }
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

// Columns in the order of the table: text, thinking, code, tool, attachment, marks.
const AMOUNT = `-bm25(message_terms, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0)`

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
