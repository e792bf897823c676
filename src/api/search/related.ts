import type { Mirror } from '../../mirror/open.ts'
import { prepared } from '../../mirror/sql.ts'
import { SLOTS_PER_MS } from '../../mirror/write/messages.ts'
import { createMatcher } from '../../text/passages/matcher.ts'
import type { RelatedChat, SearchAnswer } from '../answers/search.ts'
import { makeHits } from './hit.ts'
import { asksOneThing, formsOfName, inflectionsOf, readAsked, type Asked } from './languages.ts'
import { echo } from './lex.ts'
import { printQuery, type ParsedQuery } from './parse.ts'
import { planQuery, type Plan } from './plan.ts'
import { allOf, anyOf, type QueryNode, type WordsNode } from './query.ts'
import { filterNodes, type SearchRequest } from './request.ts'
import { chatsWithMatch } from './statement.ts'
import { readSignals, type ReadSignal, type ReadSignals } from './signals.ts'
import { countFound, findTitles } from './titles.ts'
import { weighChats, type Collection, type WeighedChat } from './weigh-chats.ts'

interface Related {
  readonly chats: readonly RelatedChat[]
  readonly warnings: readonly string[]
}

/** How many chats are shown at most. */
const SHOWN_MAX = 10
/** How many chats are checked at most for what the query excludes. */
const CHECKED_MAX = 200

/**
 * Finds the chats that come closest to a query. Each chat is weighed as a whole. Best first, one item a chat, at most ten.
 * @param shown ids of the chats that the answer shows already
 */
function findRelated(
  db: Mirror,
  { tree, quoted }: Pick<ParsedQuery, 'tree' | 'quoted'>,
  { filters, clock, isRedacted = false }: Pick<SearchRequest, 'filters' | 'clock' | 'isRedacted'>,
  shown: ReadonlySet<string>,
): Related {
  const asked = tree === null ? null : readAsked(tree, quoted)
  if (asked === null || asked.words.length === 0) return { chats: [], warnings: [] }
  const fields = [...filterNodes(filters), ...asked.fields]
  const read = readSignals(db, asked, (node) => planQuery(db, [...fields, node], clock))
  const weighed = weighChats(read.signals, describeCollection(db))
  const excluded = asked.excluded.map((node) => planQuery(db, [node], clock))
  const chosen = chooseChats(db, weighed, read.signals, excluded, shown)
  const chats = dress(db, chosen, read, holdersOf(db, chosen, read.signals), { isRedacted })
  return { chats, warnings: warnOfRest(read, chosen) }
}

/** Whether a chat has a signal. */
type Holds = (chat: WeighedChat, signal: ReadSignal) => boolean

/** Of a common word only the newest messages were read. So it is looked up again in the few chats that are shown. */
function holdersOf(db: Mirror, chosen: readonly Chosen[], signals: readonly ReadSignal[]): Holds {
  const nums = chosen.map(({ chat }) => chat.chat)
  const common = signals.filter(({ postings }) => !postings.isWhole)
  const holders = new Map(common.map((signal) => [signal, holdersAmong(db, signal.plan, nums)]))
  return ({ chat, holds }, signal) => holds[signals.indexOf(signal)] === true || holders.get(signal)?.has(chat) === true
}

/** Which of some chats match by a message or by the title. */
const holdersAmong = (db: Mirror, plan: Plan, nums: readonly number[]): ReadonlySet<number> =>
  new Set([...chatsWithMatch(db, plan.messages, nums), ...findTitles(db, plan.titles, -1, nums).map(({ num }) => num)])

function warnOfRest({ leftOut }: ReadSignals, chosen: readonly Chosen[]): readonly string[] {
  if (leftOut.length === 0 || chosen.length === 0) return []
  const words = leftOut.slice(0, 5).join(', ')
  return [`For the closest chats only the newest messages were read that hold a common word: ${words}.`]
}

const COUNT_CHATS = `select count(*) from chats`
const COUNT_CHATS_FROM = `select count(*) from chats where last_activity_at >= @atMs`
const SELECT_LENGTHS = `select c.num, c.message_count from json_each(@nums) n cross join chats c on c.num = n.value`

function describeCollection(db: Mirror): Collection {
  const chats = prepared<number>(db, COUNT_CHATS).pluck().get() ?? 0
  const countFrom = prepared<number>(db, COUNT_CHATS_FROM).pluck()
  const lengths = prepared<[number, number]>(db, SELECT_LENGTHS).raw()
  return {
    chats,
    lengthsOf: (nums) => new Map(lengths.all({ nums: JSON.stringify(nums) })),
    shareFrom: (key) => (countFrom.get({ atMs: key / SLOTS_PER_MS }) ?? 0) / Math.max(1, chats),
  }
}

interface Chosen {
  readonly chat: WeighedChat
  readonly key: number
  readonly titled: { readonly title: string; readonly summary: string | null } | null
}

const SELECT_SHOWN = `select num from chats where id in (select value from json_each(@ids))`

/** @param weighed the best first @param shown ids of chats to leave out */
function chooseChats(
  db: Mirror,
  weighed: readonly WeighedChat[],
  signals: readonly ReadSignal[],
  excluded: readonly Plan[],
  shown: ReadonlySet<string>,
): readonly Chosen[] {
  const nums = prepared<number>(db, SELECT_SHOWN).pluck()
  const shownNums = new Set(nums.all({ ids: JSON.stringify([...shown]) }))
  let left = weighed.filter(({ chat }) => !shownNums.has(chat))
  for (const plan of excluded) {
    const checked = left.slice(0, CHECKED_MAX)
    const held = holdersAmong(
      db,
      plan,
      checked.map(({ chat }) => chat),
    )
    left = checked.filter(({ chat }) => !held.has(chat))
  }
  const chosen: Chosen[] = []
  for (const chat of left) {
    const found = chat.bestKey === null ? byTitle(db, chat, signals) : { chat, key: chat.bestKey, titled: null }
    if (found !== null) chosen.push(found)
    if (chosen.length === SHOWN_MAX) break
  }
  return chosen
}

/** A chat found by its title is shown with its first message that passes the filters. Without one it is not shown. */
function byTitle(db: Mirror, chat: WeighedChat, signals: readonly ReadSignal[]): Chosen | null {
  const [titled] = signals
    .filter((_, at) => chat.holds[at])
    .flatMap(({ plan }) => findTitles(db, plan.titles, 1, [chat.chat]))
  return titled === undefined ? null : { chat, key: titled.key, titled }
}

function dress(
  db: Mirror,
  chosen: readonly Chosen[],
  { signals, words }: ReadSignals,
  holds: Holds,
  request: Pick<SearchRequest, 'isRedacted'>,
): readonly RelatedChat[] {
  const matcher = createMatcher(signals.flatMap(({ plan }) => plan.phrases))
  return chosen.flatMap(({ chat, key, titled }) => {
    const isHeld = ({ groups }: ReadSignals['words'][number]): boolean =>
      groups.some((group) => group.every((signal) => holds(chat, signal)))
    // The averages in the index still count purged messages: more digits would give them away.
    const score = Number(chat.score.toPrecision(3))
    return makeHits(db, [{ key, score, titled }], matcher, request).map((hit) => ({
      ...hit,
      matched: words.filter(isHeld).map(({ text }) => text),
      missing: words.filter((word) => !isHeld(word)).map(({ text }) => text),
    }))
  })
}

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
  const isWhole = items.length > 0 && items.length === total
  const whole = tree === null ? null : readAsked(tree, quoted)
  if (tree === null || whole === null || (isWhole && asksOneForm(db, whole))) return { chats: [], warnings: [] }
  // If one thing was asked for and found, a chat that has nothing but its parts is not close.
  const required = items.length > 0 && asksOneThing(whole, request.q) ? inAnyForm(db, whole) : []
  const shown = new Set<string>(items.map(({ chat }) => chat.id))
  const strict = new Set([...quoted, ...required])
  const related = (asked: QueryNode | null): Related =>
    findRelated(db, { tree: allOf([asked ?? [], required].flat()), quoted: strict }, request, shown)
  const nodes = tree.kind === 'and' ? tree.nodes : [tree]
  const flags = nodes.flatMap((node) => (node.kind === 'not' && isOfWords(node.node) ? [node] : []))
  if (flags.length === 0 || items.length > 0) return related(tree)
  const others = nodes.filter((node) => !flags.some((flag) => flag === node))
  // Something is found without the exclusions, so the text was copied and they are flags.
  const found = countFound(db, allOf(others), request, 1) > 0 ? null : related(tree)
  if (found !== null && found.chats.length > 0) return found
  const { chats, warnings } = related(allOf([...others, ...flags.map(({ node }) => node)]))
  const excluded = flags.map((flag) => echo(printQuery(flag))).join(' ')
  const warning = `Nothing is left without ${excluded}: for the closest chats this was read as words.`
  return { chats, warnings: chats.length === 0 ? warnings : [warning, ...warnings] }
}

/** Each word as typed or in another form. */
const inAnyForm = (db: Mirror, { words, language }: Asked): readonly QueryNode[] =>
  words.flatMap(({ text }) => {
    const forms = formsOfName(db, text, language)
    return anyOf(forms.map((form): WordsNode => ({ kind: 'words', text: form, isPrefix: false }))) ?? []
  })

/** Whether the query is one word without parts and without other forms. Then the strict answer lists everything with it. */
function asksOneForm(db: Mirror, { words, required, language }: Asked): boolean {
  const [term, ...others] = words.flatMap(({ terms }) => terms)
  if (term === undefined || others.length > 0 || required.length > 0) return false
  return inflectionsOf(db, term, language).length === 1
}

/** `-d`, and `-input=false`, which is two words. */
const isOfWords = (node: QueryNode): boolean =>
  node.kind === 'words' || (node.kind === 'and' && node.nodes.every(isOfWords))
