import type { Mirror } from '../../../mirror/open.ts'
import { isUnspacedSign } from '../../../text/terms/terms.ts'
import { newestMessages, type Newest } from '../match/count-messages.ts'
import type { Deadline } from '../deadline.ts'
import { anyOf, type QueryNode } from '../language/tree.ts'
import type { QueryPlan } from '../plan/plan.ts'
import type { Asked, AskedWord } from './asked.ts'
import { inflectionsOf, type Language } from './languages.ts'
import { readPostings, readTitles, type Postings } from './read-postings.ts'
import type { Signal } from './weigh-chats.ts'

/** A signal, and the plan by which it was read. */
export interface ReadSignal extends Signal {
  readonly plan: QueryPlan
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

type PlanFor = (node: QueryNode) => QueryPlan

/** Reads which messages have the words. Function words are read only if nothing else is found. */
export function readSignals(db: Mirror, asked: Asked, planFor: PlanFor, deadline: Deadline): ReadSignals {
  const required = asked.required.map((node): ReadSignal => {
    const plan = planFor(node)
    const postings = readPostings(db, plan, REQUIRED_READ_MAX, deadline)
    return { weight: 1, plan, isRequired: true, postings, titles: readTitles(db, plan) }
  })
  const topic = asked.words.filter(({ isFunctionWord }) => !isFunctionWord)
  const read = readWords(db, wantedOf(db, topic, asked.language), planFor, deadline)
  const isAnyFound = [...read.signals, ...required].some(
    ({ postings, titles }) => postings.messages.length + titles.length > 0,
  )
  const isEnough = isAnyFound || topic.length === asked.words.length
  const all = isEnough ? read : readWords(db, wantedOf(db, asked.words, asked.language), planFor, deadline)
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

function readWords(db: Mirror, { wanted, words }: WantedWords, planFor: PlanFor, deadline: Deadline): ReadSignals {
  const begun = [...wanted].flatMap(([key, { text, weight, node }]) => {
    if (deadline.isPassed()) return []
    const plan = planFor(node)
    return { key, text, weight, plan, newest: newestMessages(db, plan.branches, BEGUN_MAX, deadline) }
  })
  const rarest = begun.toSorted((one, other) => reachOf(one.newest) - reachOf(other.newest)).slice(0, WORDS_MAX)
  let left = READ_MAX
  const read = rarest.map(({ key, weight, plan }, at) => {
    const isLate = deadline.isPassed()
    const share = Math.max(BEGUN_MAX, Math.floor(left / (rarest.length - at)))
    const postings = isLate ? unread : readPostings(db, plan, share, deadline)
    left -= postings.messages.length
    return { key, weight, plan, isRequired: false, postings, titles: isLate ? [] : readTitles(db, plan) }
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

const unread: Postings = { messages: [], isWhole: false }

/** How far back the newest messages with a word reach: the further, the rarer the word. Rarest is one with fewer messages than that. */
const reachOf = ({ keys, isWhole }: Newest): number => (isWhole ? keys.length - BEGUN_MAX : (keys.at(-1) ?? 0))
