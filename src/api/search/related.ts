import type { Mirror } from '../../mirror/open.ts'
import { prepared } from '../../mirror/sql.ts'
import { SLOTS_PER_MS } from '../../mirror/write/messages.ts'
import { createMatcher } from '../../text/passages/matcher.ts'
import { isUnspacedSign, termsOf } from '../../text/terms/terms.ts'
import type { RelatedChat, SearchAnswer } from '../answers/search.ts'
import { makeHits } from './page.ts'
import { echo, printQuery, type ParsedQuery, findDate, lexQuery, type DateInWords, splitField } from './parse.ts'
import { planQuery, type Plan } from './plan.ts'
import { allOf, anyOf, type QueryNode, filterNodes, type SearchRequest, hasWords, type WordsNode } from './query.ts'
import { askMessages, chatsWithMatch, statementOf } from './statement.ts'
import { countFound, findTitles } from './titles.ts'
import { formsOf } from './vocabulary.ts'
import { stopwords } from '@orama/stopwords/english'

const wordsIn = (list: string): readonly string[] => list.split(' ')

/** Words that say nothing about a topic and are not in the list of the package. */
const OTHERS = wordsIn(
  'please again also still did get got us thing stuff something m re s t ve d ll dont doesnt didnt cant couldnt wont isnt wasnt',
)
/** Of the index: "don't" is two terms, and neither says anything about a topic. */
const functionTerms: ReadonlySet<string> = new Set([...stopwords, ...OTHERS].flatMap(termsOf))
/** In a question these are what is looked for, and not what it is about. */
const lookedFor: ReadonlySet<string> = new Set(wordsIn('chat chats agent conversation conversations'))
/** A query with fewer function words is no question. */
const OF_QUESTION_MIN = 2

export const isFunctionTerm = (term: string): boolean => functionTerms.has(term)

/** One word of a query as a person sees it, with its terms in the index. */
export interface AskedWord {
  readonly text: string
  /** In order; several for an identifier such as `getUserName`. */
  readonly terms: readonly string[]
  readonly isFunctionWord: boolean
}

/** A query in two parts: words that a chat may lack, and conditions that it must meet. */
export interface Asked {
  /** Without duplicates. */
  readonly words: readonly AskedWord[]
  /** A date among the words. Its words say when, and not what about. */
  readonly date: DateInWords | null
  /** Phrases, prefixes and alternatives: a chat must have each of them, in any message. */
  readonly required: readonly QueryNode[]
  /** Fields: a message counts only if it meets all of them. */
  readonly fields: readonly QueryNode[]
  /** A chat with one of these is left out. */
  readonly excluded: readonly QueryNode[]
}

/** Whether a query is one word, identifier, path or URL. A URL such as `https://a.example/b?page=2` is read as several words. */
export function asksOneThing({ words, required }: Asked, q: string): boolean {
  if (required.length > 0 || words.length < 2) return required.length === 0
  const chunks = lexQuery(q, []).filter(
    (token) => token.kind === 'chunk' && !token.isNegated && splitField(token.text) === null,
  )
  return chunks.length === 1 && /[/\\]/.test(chunks[0]?.source ?? '')
}

/** @param quoted nodes of the tree that were in quotation marks: a chat must have exactly these words */
export function readAsked(tree: QueryNode, quoted: ReadonlySet<QueryNode>): Asked {
  const nodes = tree.kind === 'and' ? tree.nodes : [tree]
  const isPlainWord = (node: QueryNode): node is WordsNode =>
    node.kind === 'words' && !node.isPrefix && !quoted.has(node)
  const texts = nodes.filter(isPlainWord).flatMap(({ text }) => wordsOf(text))
  const date = findDate(texts.join(' '))
  const isQuestion = new Set(texts.flatMap(termsOf).filter(isFunctionTerm)).size >= OF_QUESTION_MIN
  const words = texts.map((text): AskedWord => {
    const terms = termsOf(text)
    const isOfFunction = terms.every((term) => isFunctionTerm(term) || (isQuestion && lookedFor.has(term)))
    return { text, terms, isFunctionWord: isOfFunction || date?.words.includes(text) === true }
  })
  const strict = nodes.filter((node) => !isPlainWord(node))
  return {
    words: [...new Map(words.map((word) => [word.terms.join(' '), word])).values()],
    date,
    required: strict.filter((node) => node.kind !== 'not' && hasWords(node)),
    fields: strict.filter((node) => !hasWords(node)),
    excluded: strict.flatMap((node) => (node.kind === 'not' && hasWords(node) ? [node.node] : [])),
  }
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' })

/** Splits a text that is written without spaces into its words. */
function wordsOf(text: string): readonly string[] {
  if (!termsOf(text).some((term) => isUnspacedSign(Array.from(term)[0] ?? ''))) return [text]
  const words = [...segmenter.segment(text)].filter(({ isWordLike }) => isWordLike === true)
  return words.length === 0 ? [text] : words.map(({ segment }) => segment)
}

interface Related {
  readonly chats: readonly RelatedChat[]
  readonly warnings: readonly string[]
}

const nothing: Related = { chats: [], warnings: [] }

/**
 * Finds the chats that come closest to a query whose strict answer has few chats. A pasted command is full of flags such
 * as `-d`. If nothing is left when they are read as exclusions, they are read as words.
 * @param answer the strict answer; its chats are left out
 */
export function relateChats(
  db: Mirror,
  { tree, quoted }: Pick<ParsedQuery, 'tree' | 'quoted'>,
  request: Pick<SearchRequest, 'q' | 'filters' | 'clock' | 'isRedacted'>,
  { items, total }: Pick<SearchAnswer, 'items' | 'total'>,
): Related {
  if (tree === null) return nothing
  const asked = readAsked(tree, quoted)
  // If a name was asked for and found, a chat that has nothing but its parts is not close. A word has other forms, which
  // are shown below all of its hits.
  const isName = asked.words.flatMap(({ terms }) => terms.filter((term) => !isFunctionTerm(term))).length > 1
  const isFound = items.length > 0 && (isName || items.length < total)
  if (isFound && asksOneThing(asked, request.q)) return nothing
  const shown: ReadonlySet<string> = new Set(items.map(({ chat }) => chat.id))
  const nodes = tree.kind === 'and' ? tree.nodes : [tree]
  const flags = nodes.flatMap((node) => (node.kind === 'not' && isOfWords(node.node) ? [node] : []))
  if (flags.length === 0 || items.length > 0) return { ...nothing, chats: findRelated(db, asked, request, shown) }
  const others = nodes.filter((node) => !flags.some((flag) => flag === node))
  // If something is found without the exclusions, the text was copied, and they are flags.
  const isCopied = countFound(db, allOf(others), request, 1) > 0
  const found = isCopied ? [] : findRelated(db, asked, request, shown)
  if (found.length > 0) return { ...nothing, chats: found }
  const asWords = allOf([...others, ...flags.map(({ node }) => node)])
  const chats = asWords === null ? [] : findRelated(db, readAsked(asWords, quoted), request, shown)
  const excluded = flags.map((flag) => echo(printQuery(flag))).join(' ')
  const warning = `Nothing is left without ${excluded}: for the closest chats this was read as words.`
  return { chats, warnings: chats.length === 0 ? [] : [warning] }
}

/** `-d`, and `-input=false`, which is two words. */
const isOfWords = (node: QueryNode): boolean =>
  node.kind === 'words' || (node.kind === 'and' && node.nodes.every(isOfWords))

/** How many chats are shown at most, and how many are checked for what the query excludes. */
const SHOWN_MAX = 10
const CHECKED_MAX = 200

const SELECT_SHOWN = `select num from chats where id in (select value from json_each(?))`

/**
 * Each chat is weighed as a whole. Best first, one item a chat, at most ten.
 * @param shown ids of the chats that the answer shows already
 */
function findRelated(
  db: Mirror,
  asked: Asked,
  { q, filters, clock, isRedacted = false }: Pick<SearchRequest, 'q' | 'filters' | 'clock' | 'isRedacted'>,
  shown: ReadonlySet<string>,
): readonly RelatedChat[] {
  const fields = [...filterNodes(filters), ...asked.fields]
  const { words, signals } = readSignals(db, asked, (node) => planQuery(db, [...fields, node], clock))
  if (words.length === 0) return []
  const isHeldIn =
    (holds: (signal: Signal) => boolean) =>
    ({ groups }: Word): boolean =>
      groups.some((group) => group.every(holds))
  const least = asked.required.length > 0 ? 0 : asksOneThing(asked, q) ? words.length : 1
  const shownNums = new Set(statementOf<number>(db, SELECT_SHOWN, 'values').all(JSON.stringify([...shown])))
  let left = weighChats(db, signals).filter(
    ({ chat, amounts }) =>
      !shownNums.has(chat) && words.filter(isHeldIn((signal) => amounts.has(signal))).length >= least,
  )
  for (const node of asked.excluded) {
    left = left.slice(0, CHECKED_MAX)
    const nums = left.map(({ chat }) => chat)
    const held = holdersAmong(db, planQuery(db, [node], clock), nums)
    left = left.filter(({ chat }) => !held.has(chat))
  }
  const chosen = []
  for (const one of left) {
    const found = one.best === null ? byTitle(db, one) : { key: one.best.key, titled: null }
    if (found !== null) chosen.push({ ...one, ...found })
    if (chosen.length === SHOWN_MAX) break
  }
  // Of a common word only the newest messages were read. So it is looked up again in the few chats that are shown.
  const others = new Map<Signal, ReadonlySet<number>>()
  for (const signal of signals.filter(({ isWhole }) => !isWhole)) {
    const unsure = chosen.flatMap(({ chat, amounts }) => (amounts.has(signal) ? [] : [chat]))
    if (unsure.length > 0) others.set(signal, holdersAmong(db, signal.plan, unsure))
  }
  const matcher = createMatcher(signals.flatMap(({ plan }) => plan.phrases))
  return chosen.flatMap(({ chat, amounts, score, key, titled }) => {
    const isHeld = isHeldIn((signal) => amounts.has(signal) || others.get(signal)?.has(chat) === true)
    // The averages in the index still count purged messages: more digits would give them away.
    const found = { key, titled, score: Number(score.toPrecision(3)) }
    return makeHits(db, [found], matcher, { isRedacted }).map((hit) => ({
      ...hit,
      matched: words.filter(isHeld).map(({ text }) => text),
      missing: words.filter((word) => !isHeld(word)).map(({ text }) => text),
    }))
  })
}

/** A chat found by its title is shown with its first message that passes the filters. Without one it is not shown. */
function byTitle(db: Mirror, { chat, amounts }: WeighedChat) {
  const [titled] = [...amounts.keys()].flatMap(({ plan }) => findTitles(db, plan.titles, 1, [chat]))
  return titled === undefined ? null : { key: titled.key, titled }
}

/** Which of some chats match by a message or by the title. */
const holdersAmong = (db: Mirror, plan: Plan, nums: readonly number[]): ReadonlySet<number> =>
  new Set([...chatsWithMatch(db, plan.messages, nums), ...findTitles(db, plan.titles, -1, nums).map(({ num }) => num)])

/** A part of the query with its matches: a word in all its forms, a whole identifier or a phrase. */
interface Signal {
  readonly plan: Plan
  /** 1 for a word; less for what says less about the topic. */
  weight: number
  /** Whether a chat without it is left out. */
  readonly isRequired: boolean
  /** The newest messages with it, and whether these are all. */
  messages: readonly Posting[]
  isWhole: boolean
  /** Chats with a match in the title. */
  titles: readonly number[]
}

interface Posting {
  readonly key: number
  readonly chat: number
  /** How much of the signal the message has, by bm25; 1 is the average. */
  readonly amount: number
}

/** A word that a chat may lack. A chat has it if it has all signals of one of the groups. */
interface Word {
  readonly text: string
  readonly groups: readonly (readonly Signal[])[]
}

interface Read {
  readonly words: readonly Word[]
  readonly signals: readonly Signal[]
}

/** How many messages are read for all words together, the newest of each word. */
const READ_MAX = 9_000
/** How many of each word at least. */
const READ_MIN = 64
/** Required parts are read further: a chat without them is not shown. */
const REQUIRED_READ_MAX = 20_000
/** A part of an identifier says less than a word of its own. */
const PART_WEIGHT = 0.5
/** A function word only decides between chats that are otherwise equal. */
const FUNCTION_WORD_WEIGHT = 0.02

/** Reads which messages have the words. Function words are read only if nothing else is found. */
function readSignals(db: Mirror, asked: Asked, planFor: (node: QueryNode) => Plan): Read {
  const make: MakeSignal = (node, weight, isRequired) => {
    return { plan: planFor(node), weight, isRequired, messages: [], isWhole: true, titles: [] }
  }
  const strict = asked.required.map((node) => make(node, 1, true))
  for (const signal of strict) readSignal(db, signal, REQUIRED_READ_MAX)
  const topic = asked.words.filter(({ isFunctionWord }) => !isFunctionWord)
  const read = readWords(db, topic, make)
  const isFound = [...read.signals, ...strict].some(({ messages, titles }) => messages.length + titles.length > 0)
  const all = isFound || topic.length === asked.words.length ? read : readWords(db, asked.words, make)
  return { ...all, signals: [...all.signals, ...strict] }
}

type MakeSignal = (node: QueryNode, weight: number, isRequired: boolean) => Signal

function readWords(db: Mirror, asked: readonly AskedWord[], make: MakeSignal): Read {
  // Words that share a signal share the object.
  const made = new Map<string, Signal>()
  const want = (text: string, forms: readonly string[], weight: number): Signal => {
    const all = forms.map((form): QueryNode => ({ kind: 'words', text: form, isPrefix: false }))
    const signal = made.get(text) ?? make(anyOf(all) ?? { kind: 'words', text, isPrefix: false }, weight, false)
    signal.weight = Math.max(signal.weight, weight)
    made.set(text, signal)
    return signal
  }
  const words = asked.map(({ text, terms, isFunctionWord }): Word => {
    const weight = isFunctionWord ? FUNCTION_WORD_WEIGHT : 1
    const [only = ''] = terms
    const isUnspaced = isUnspacedSign(Array.from(only)[0] ?? '')
    if (terms.length === 1 && !isUnspaced) return { text, groups: [[want(only, formsOf(db, only), weight)]] }
    const parts = isUnspaced ? [] : terms.filter((term) => !isFunctionTerm(term))
    const ofParts = parts.map((term) => want(term, formsOf(db, term), weight * PART_WEIGHT))
    const whole = want(text, isUnspaced ? [text] : formsOf(db, text), weight)
    return { text, groups: [[whole], ofParts].filter(({ length }) => length > 0) }
  })
  // Longer words are mostly rarer. What they leave is read of the others.
  const signals = [...made].toSorted(([one], [other]) => other.length - one.length).map(([, signal]) => signal)
  let left = READ_MAX
  for (const [at, signal] of signals.entries()) {
    readSignal(db, signal, Math.max(READ_MIN, Math.floor(left / (signals.length - at))))
    left -= signal.messages.length
  }
  return { words, signals }
}

// Columns in the order of the table: text, thinking, code, tool, attachment, plan, summary, marks.
const AMOUNT = `-bm25(message_terms, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0)`
/** How many chats are looked up by their titles at most. */
const TITLES_MAX = 300

/** @param most messages */
function readSignal(db: Mirror, signal: Signal, most: number): void {
  const { messages: target, titles } = signal.plan
  signal.titles = findTitles(db, titles, TITLES_MAX).map(({ num }) => num)
  if (target.match === null || !target.isPossible) return
  const columns = `message_terms.rowid as key, m.chat, ${AMOUNT} as amount`
  const { sql, values } = askMessages(target, { columns, order: 'newest', isOfMessage: true })
  const found = statementOf<Posting>(db, sql).all(...values, most)
  const mean = found.reduce((sum, { amount }) => sum + amount, 0) / found.length
  signal.messages = found.map((one) => ({ ...one, amount: mean > 0 ? one.amount / mean : 1 }))
  signal.isWhole = found.length < most
}

// BM25's two constants, what the share of the query that a chat holds counts, and what a title counts in messages: chosen on
// the tuning half of test/search/judged. K1 is large, since it is about whole chats: a word that returns in many messages is
// what the chat is about.
const K1 = 50
const B = 0.5
const HELD_POWER = 0.45
const TITLE_AMOUNT = 2

const SELECT_LENGTHS = `select c.num, c.message_count from json_each(?) n cross join chats c on c.num = n.value`

interface WeighedChat {
  readonly chat: number
  /** Higher is better. */
  score: number
  /** How much of each signal it has. */
  readonly amounts: Map<Signal, number>
  /** The message with most of the words; null if only the title has any. */
  best: { readonly key: number; readonly mass: number } | null
}

/**
 * Ranks chats by BM25 over their messages and titles, best first. What a chat holds of the query counts once more: many
 * messages with one of the words do not outweigh another word.
 */
function weighChats(db: Mirror, signals: readonly Signal[]): readonly WeighedChat[] {
  const weights = new Map(rarities(db, signals).map(([signal, rarity]) => [signal, signal.weight * rarity]))
  const required = signals.filter(({ isRequired }) => isRequired)
  const asked = [...weights.values()].reduce((sum, weight) => sum + weight, 0)
  const found = gatherChats(weights).filter(({ amounts }) => required.every((signal) => amounts.has(signal)))
  const nums = JSON.stringify(found.map(({ chat }) => chat))
  const lengths = new Map(statementOf<[number, number]>(db, SELECT_LENGTHS, 'lists').all(nums))
  const mean = [...lengths.values()].reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.size)
  for (const one of found) {
    const norm = K1 * (1 - B + (B * (lengths.get(one.chat) ?? mean)) / Math.max(1, mean))
    let [bm25, held] = [0, 0]
    for (const [signal, amount] of one.amounts) {
      const weight = weights.get(signal) ?? 0
      bm25 += (weight * amount * (K1 + 1)) / (amount + norm)
      held += weight
    }
    one.score = bm25 * (held / asked) ** HELD_POWER
  }
  return found.sort((one, other) => other.score - one.score || other.chat - one.chat)
}

/** The chats with any of the words, without their scores. */
function gatherChats(weights: ReadonlyMap<Signal, number>): readonly WeighedChat[] {
  const chats = new Map<number, WeighedChat>()
  const masses = new Map<number, number>()
  const add = (chat: number, signal: Signal, amount: number): WeighedChat => {
    const one = chats.get(chat) ?? { chat, score: 0, amounts: new Map<Signal, number>(), best: null }
    chats.set(chat, one)
    one.amounts.set(signal, (one.amounts.get(signal) ?? 0) + amount)
    return one
  }
  for (const [signal, weight] of weights) {
    for (const { key, chat, amount } of signal.messages) {
      const one = add(chat, signal, amount)
      const mass = (masses.get(key) ?? 0) + weight
      masses.set(key, mass)
      // Of messages with the same words, the newest is the best.
      const { best } = one
      if (best === null || mass > best.mass || (mass === best.mass && key > best.key)) one.best = { key, mass }
    }
    for (const chat of signal.titles) add(chat, signal, TITLE_AMOUNT)
  }
  return [...chats.values()]
}

const COUNT_CHATS = `select count(*) from chats where message_count > 0 and ifnull(last_activity_at, 0) >= @atMs`

/**
 * The inverse document frequency of BM25, with chats as documents. If only the newest messages were read, the older chats
 * are assumed to have the word as often as the newer ones.
 */
function rarities(db: Mirror, signals: readonly Signal[]): readonly (readonly [Signal, number])[] {
  const count = prepared<number>(db, COUNT_CHATS).pluck()
  const chats = count.get({ atMs: 0 }) ?? 0
  return signals.map((signal) => {
    const found = new Set(signal.titles)
    for (const { chat } of signal.messages) found.add(chat)
    const last = signal.messages.at(-1)
    const isAll = signal.isWhole || last === undefined
    const share = isAll ? 1 : Math.max(1, count.get({ atMs: last.key / SLOTS_PER_MS }) ?? 0) / Math.max(1, chats)
    const holders = Math.min(chats, found.size / share)
    return [signal, Math.log1p((chats - holders + 0.5) / (holders + 0.5))]
  })
}
