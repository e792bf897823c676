import type { Mirror } from '../../mirror/open.ts'
import { prepared } from '../../mirror/sql.ts'
import { SLOTS_PER_MS } from '../../mirror/write/messages.ts'
import { createMatcher } from '../../text/passages/matcher.ts'
import { isUnspacedSign } from '../../text/terms/terms.ts'
import type { RelatedChat, SearchAnswer } from '../answers/search.ts'
import { makeHits } from './hit.ts'
import { asksOneThing, inflectionsOf, readAsked, type Asked, type AskedWord } from './languages.ts'
import { echo } from './lex.ts'
import { printQuery, type ParsedQuery } from './parse.ts'
import { planQuery, type Plan } from './plan.ts'
import { allOf, anyOf, type QueryNode } from './query.ts'
import { filterNodes, type SearchRequest } from './request.ts'
import { askMessages, chatsWithMatch, newestMessages, statementOf, type Target } from './statement.ts'
import { countFound, findTitles } from './titles.ts'

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
  { items }: Pick<SearchAnswer, 'items'>,
): Related {
  // If one thing was asked for and found, a chat that has nothing but its parts is not close.
  if (tree === null || (items.length > 0 && asksOneThing(readAsked(tree, quoted), request.q))) return nothing
  const shown = new Set<string>(items.map(({ chat }) => chat.id))
  const related = (asked: QueryNode | null): Related =>
    asked === null ? nothing : findRelated(db, readAsked(asked, quoted), request, shown)
  const nodes = tree.kind === 'and' ? tree.nodes : [tree]
  const flags = nodes.flatMap((node) => (node.kind === 'not' && isOfWords(node.node) ? [node] : []))
  if (flags.length === 0 || items.length > 0) return related(tree)
  const others = nodes.filter((node) => !flags.some((flag) => flag === node))
  // Something is found without the exclusions, so the text was copied and they are flags.
  const found = countFound(db, allOf(others), request, 1) > 0 ? nothing : related(tree)
  if (found.chats.length > 0) return found
  const { chats, warnings } = related(allOf([...others, ...flags.map(({ node }) => node)]))
  const excluded = flags.map((flag) => echo(printQuery(flag))).join(' ')
  const warning = `Nothing is left without ${excluded}: for the closest chats this was read as words.`
  return { chats, warnings: chats.length === 0 ? warnings : [warning, ...warnings] }
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
): Related {
  if (asked.words.length === 0) return nothing
  const fields = [...filterNodes(filters), ...asked.fields]
  const { words, signals, leftOut } = readSignals(db, asked, (node) => planQuery(db, [...fields, node], clock))
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
    const held = holdersAmong(
      db,
      planQuery(db, [node], clock),
      left.map(({ chat }) => chat),
    )
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
  const chats = chosen.flatMap(({ chat, amounts, score, key, titled }) => {
    const isHeld = isHeldIn((signal) => amounts.has(signal) || others.get(signal)?.has(chat) === true)
    // The averages in the index still count purged messages: more digits would give them away.
    const found = { key, titled, score: Number(score.toPrecision(3)) }
    return makeHits(db, [found], matcher, { isRedacted }).map((hit) => ({
      ...hit,
      matched: words.filter(isHeld).map(({ text }) => text),
      missing: words.filter((word) => !isHeld(word)).map(({ text }) => text),
    }))
  })
  const common = leftOut.slice(0, 5).join(', ')
  const warning = `For the closest chats only the newest messages were read that hold a common word: ${common}.`
  return { chats, warnings: leftOut.length === 0 || chats.length === 0 ? [] : [warning] }
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
  readonly text: string
  readonly node: QueryNode
  /** 1 for a word; less for what says less about the topic. */
  weight: number
  /** Whether a chat without it is left out. */
  readonly isRequired: boolean
  readonly plan: Plan
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
  /** Words that were not read, or only in part. */
  readonly leftOut: readonly string[]
}

/** How many messages are read for all words together, the newest of each word. Rare words are read first; common ones share the rest. */
const READ_MAX = 9_000
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

/** Reads which messages have the words. Function words are read only if nothing else is found. */
function readSignals(db: Mirror, asked: Asked, planFor: (node: QueryNode) => Plan): Read {
  const make = (text: string, node: QueryNode, weight: number, isRequired: boolean): Signal => {
    const plan = planFor(node)
    return { text, node, weight, isRequired, plan, messages: [], isWhole: true, titles: [] }
  }
  const strict = asked.required.map((node) => make('', node, 1, true))
  for (const signal of strict) readSignal(db, signal, REQUIRED_READ_MAX)
  const topic = asked.words.filter(({ isFunctionWord }) => !isFunctionWord)
  const read = readWords(db, topic, asked, make)
  const isFound = [...read.signals, ...strict].some(({ messages, titles }) => messages.length + titles.length > 0)
  const all = isFound || topic.length === asked.words.length ? read : readWords(db, asked.words, asked, make)
  return { ...all, signals: [...all.signals, ...strict] }
}

function readWords(
  db: Mirror,
  asked: readonly AskedWord[],
  { language }: Asked,
  make: (text: string, node: QueryNode, weight: number, isRequired: boolean) => Signal,
): Read {
  // Words that share a signal share the object.
  const made = new Map<string, Signal>()
  const want = (text: string, forms: readonly string[], weight: number): Signal => {
    const all = forms.map((form): QueryNode => ({ kind: 'words', text: form, isPrefix: false }))
    const signal = made.get(text) ?? make(text, anyOf(all) ?? { kind: 'words', text, isPrefix: false }, weight, false)
    signal.weight = Math.max(signal.weight, weight)
    made.set(text, signal)
    return signal
  }
  const words = asked.map(({ text, terms, isFunctionWord }): Word => {
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
  // How far back the newest messages with a word reach: the further, the rarer. Rarest is one with fewer messages than that.
  const reachOf = ({ plan }: Signal): number => {
    const { keys, isWhole } = newestMessages(db, plan.messages, BEGUN_MAX)
    return isWhole ? keys.length - BEGUN_MAX : (keys.at(-1) ?? 0)
  }
  const reaches = new Map([...made.values()].map((signal) => [signal, reachOf(signal)]))
  const rarest = [...reaches].toSorted(([, one], [, other]) => one - other).map(([signal]) => signal)
  const read = new Set(rarest.slice(0, WORDS_MAX))
  let left = READ_MAX
  for (const [at, signal] of [...read].entries()) {
    readSignal(db, signal, Math.max(BEGUN_MAX, Math.floor(left / (read.size - at))))
    left -= signal.messages.length
  }
  return {
    signals: [...read],
    // If a word was not read, it is unknown which chats have it.
    words: words.flatMap(({ text, groups }) => {
      const known = groups.filter((group) => group.every((signal) => read.has(signal)))
      return known.length === 0 ? [] : [{ text, groups: known }]
    }),
    leftOut: rarest.filter((signal) => !read.has(signal) || !signal.isWhole).map(({ text }) => text),
  }
}

// Columns in the order of the table: text, thinking, code, tool, attachment, plan, summary, marks.
const AMOUNT = `-bm25(message_terms, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0)`
/** How many chats are looked up by their titles at most. */
const TITLES_MAX = 300

/** @param most messages */
function readSignal(db: Mirror, signal: Signal, most: number): void {
  const { messages: target, titles } = signal.plan
  signal.titles = readTitles(db, titles)
  if (target.match === null || !target.isPossible) return
  const columns = `message_terms.rowid as key, m.chat, ${AMOUNT} as amount`
  const { sql, values } = askMessages(target, { columns, order: 'newest', isOfMessage: true })
  const found = statementOf<Posting>(db, sql).all(...values, most)
  const mean = found.reduce((sum, { amount }) => sum + amount, 0) / found.length
  signal.messages = found.map((one) => ({ ...one, amount: mean > 0 ? one.amount / mean : 1 }))
  signal.isWhole = found.length < most
}

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

// BM25's two constants, and what a title counts in messages: chosen on the tuning half of test/search/judged. K1 is large,
// since it is about whole chats: a word that returns in many messages is what the chat is about.
const K1 = 50
const B = 0.75
const TITLE_AMOUNT = 2
/** How many of the best chats are weighed again by their length. */
const WEIGHED_TWICE_MAX = 500

interface WeighedChat {
  readonly chat: number
  /** Higher is better. */
  score: number
  /** How much of each signal it has. */
  readonly amounts: Map<Signal, number>
  /** The message with most of the words; null if only the title has any. */
  best: { readonly key: number; readonly mass: number } | null
}

const SELECT_LENGTHS = `select c.num, c.message_count from json_each(?) n cross join chats c on c.num = n.value`

/**
 * Ranks chats by BM25 over their messages and titles, best first. What a chat holds of the query counts once more: many
 * messages with one of the words do not outweigh another word.
 */
function weighChats(db: Mirror, signals: readonly Signal[]): readonly WeighedChat[] {
  const weights = new Map(rarities(db, signals).map(([signal, rarity]) => [signal, signal.weight * rarity]))
  const required = signals.filter(({ isRequired }) => isRequired)
  const drafts = gatherChats(weights).filter(({ amounts }) => required.every((signal) => amounts.has(signal)))
  const asked = [...weights.values()].reduce((sum, weight) => sum + weight, 0)
  const weigh = (draft: WeighedChat, length: number): void => {
    const norm = K1 * (1 - B + B * length)
    let [bm25, held] = [0, 0]
    for (const [signal, amount] of draft.amounts) {
      const weight = weights.get(signal) ?? 0
      bm25 += (weight * amount * (K1 + 1)) / (amount + norm)
      held += weight
    }
    draft.score = bm25 * Math.sqrt(held / asked)
  }
  const byScore = (one: WeighedChat, other: WeighedChat): number => other.score - one.score || other.chat - one.chat
  for (const draft of drafts) weigh(draft, 1)
  const promising = drafts.toSorted(byScore).slice(0, WEIGHED_TWICE_MAX)
  const nums = JSON.stringify(promising.map(({ chat }) => chat))
  const lengths = new Map(statementOf<[number, number]>(db, SELECT_LENGTHS, 'lists').all(nums))
  const mean = [...lengths.values()].reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.size)
  for (const draft of promising) weigh(draft, (lengths.get(draft.chat) ?? mean) / Math.max(1, mean))
  return promising.toSorted(byScore)
}

function gatherChats(weights: ReadonlyMap<Signal, number>): readonly WeighedChat[] {
  const drafts = new Map<number, WeighedChat>()
  const masses = new Map<number, number>()
  const add = (chat: number, signal: Signal, amount: number): WeighedChat => {
    const draft = drafts.get(chat) ?? { chat, score: 0, amounts: new Map<Signal, number>(), best: null }
    drafts.set(chat, draft)
    draft.amounts.set(signal, (draft.amounts.get(signal) ?? 0) + amount)
    return draft
  }
  for (const [signal, weight] of weights) {
    for (const { key, chat, amount } of signal.messages) {
      const draft = add(chat, signal, amount)
      const mass = (masses.get(key) ?? 0) + weight
      masses.set(key, mass)
      // Of messages with the same words, the newest is the best.
      const { best } = draft
      if (best === null || mass > best.mass || (mass === best.mass && key > best.key)) draft.best = { key, mass }
    }
    for (const chat of signal.titles) add(chat, signal, TITLE_AMOUNT)
  }
  return [...drafts.values()]
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
