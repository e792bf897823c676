import type { Mirror } from '../../../mirror/open.ts'
import { SLOTS_PER_MS } from '../../../mirror/write/messages.ts'
import { createMatcher } from '../../../text/passages/matcher.ts'
import type { Clock } from '../../periods.ts'
import type { Deadline } from '../deadline.ts'
import { filterNodes, type SearchRequest } from '../request.ts'
import { makeHits } from '../hit.ts'
import type { ParsedQuery } from '../language/parse.ts'
import { chatsWithMatch } from '../match/matching-chats.ts'
import { planQuery } from '../plan/plan.ts'
import { listsOf, valuesOf } from '../match/statement.ts'
import { findCandidates } from '../titles/title-candidates.ts'
import { findCarriers } from '../titles/title-carrier.ts'
import { asksOneThing, readAsked, type Asked } from './asked.ts'
import { readSignals, type ReadSignal, type ReadSignals } from './read-signals.ts'
import { weighChats, type Collection, type WeighedChat } from './weigh-chats.ts'
import { findsAny } from '../match/count-found.ts'
import { echo } from '../language/lex.ts'
import { printQuery } from '../language/print.ts'
import { allOf, anyOf, type QueryNode, type WordsNode } from '../language/tree.ts'
import { formsOfName, inflectionsOf } from './languages.ts'
import type { RelatedChat, SearchAnswer } from '../../answers/search.ts'

export interface Related {
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
export function findRelated(
  db: Mirror,
  { tree, quoted }: Pick<ParsedQuery, 'tree' | 'quoted'>,
  { filters, clock, isRedacted = false }: Pick<SearchRequest, 'filters' | 'clock' | 'isRedacted'>,
  shown: ReadonlySet<string>,
  deadline: Deadline,
): Related {
  const asked = tree === null ? null : readAsked(tree, quoted)
  if (asked === null || asked.words.length === 0) return { chats: [], warnings: [] }
  const fields = [...filterNodes(filters), ...asked.fields]
  const read = readSignals(db, asked, (node) => planQuery(db, [...fields, node], clock), deadline)
  const weighed = weighChats(read.signals, describeCollection(db))
  const chosen = chooseChats(db, weighed, { asked, signals: read.signals, clock, shown }, deadline)
  const chats = dress(db, chosen, read, holdersOf(db, chosen, read.signals, deadline), { isRedacted })
  return { chats, warnings: warnOfRest(read, chosen, deadline) }
}

/** Whether a chat has the signal with this index. */
type Holds = (chat: WeighedChat, place: number) => boolean

/** Of a common word only the newest messages were read. So it is looked up again in the few chats that are shown. */
function holdersOf(db: Mirror, chosen: readonly Chosen[], signals: readonly ReadSignal[], deadline: Deadline): Holds {
  const nums = chosen.map(({ chat }) => chat.chat)
  const holders = signals.map(({ plan, postings }) => {
    if (postings.isWhole || nums.length === 0) return new Set<number>()
    const titled = findCandidates(db, plan.titleBranches, nums).map(({ num }) => num)
    return new Set([...chatsWithMatch(db, plan.branches, nums, deadline), ...titled])
  })
  return ({ chat, holds }, place) => holds[place] === true || holders[place]?.has(chat) === true
}

function warnOfRest({ leftOut }: ReadSignals, chosen: readonly Chosen[], deadline: Deadline): readonly string[] {
  if (deadline.hasPassed()) return ['The search ran out of time before it had looked at all that may be close.']
  if (leftOut.length === 0 || chosen.length === 0) return []
  const words = leftOut.slice(0, 5).join(', ')
  return [`For the closest chats only the newest messages were read that hold a common word: ${words}.`]
}

const COUNT_CHATS = `select count(*) from chats`
const COUNT_CHATS_FROM = `select count(*) from chats where last_activity_at >= @atMs`
const SELECT_LENGTHS = `select c.num, c.message_count from json_each(@nums) n cross join chats c on c.num = n.value`

function describeCollection(db: Mirror): Collection {
  const chats = valuesOf<number>(db, COUNT_CHATS).get({}) ?? 0
  return {
    chats,
    lengthsOf: (nums) => new Map(listsOf<[number, number]>(db, SELECT_LENGTHS).all({ nums: JSON.stringify(nums) })),
    shareFrom: (key) =>
      (valuesOf<number>(db, COUNT_CHATS_FROM).get({ atMs: key / SLOTS_PER_MS }) ?? 0) / Math.max(1, chats),
  }
}

interface Chosen {
  readonly chat: WeighedChat
  readonly key: number
  readonly titled: { readonly title: string; readonly summary: string | null } | null
}

interface Choice {
  readonly asked: Asked
  readonly signals: readonly ReadSignal[]
  readonly clock: Clock
  readonly shown: ReadonlySet<string>
}

const SELECT_SHOWN = `select num from chats where id in (select value from json_each(@ids))`

function chooseChats(
  db: Mirror,
  weighed: readonly WeighedChat[],
  { asked, signals, clock, shown }: Choice,
  deadline: Deadline,
): readonly Chosen[] {
  const shownNums = new Set(valuesOf<number>(db, SELECT_SHOWN).all({ ids: JSON.stringify([...shown]) }))
  const others = weighed.filter(({ chat }) => !shownNums.has(chat))
  const left = asked.excluded.reduce<readonly WeighedChat[]>((chats, node) => {
    const nums = chats.slice(0, CHECKED_MAX).map(({ chat }) => chat)
    if (nums.length === 0) return []
    const plan = planQuery(db, [node], clock)
    const held = new Set([
      ...chatsWithMatch(db, plan.branches, nums, deadline),
      ...findCandidates(db, plan.titleBranches, nums).map(({ num }) => num),
    ])
    return chats.slice(0, CHECKED_MAX).filter(({ chat }) => !held.has(chat))
  }, others)
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
    .flatMap(({ plan }) => findCandidates(db, plan.titleBranches, [chat.chat]))
  const key = titled === undefined ? undefined : findCarriers(db, [titled]).get(chat.chat)
  return titled === undefined || key === undefined ? null : { chat, key, titled }
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
      groups.some((group) => group.every((place) => holds(chat, place)))
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
  deadline: Deadline,
): Related {
  const isWhole = items.length > 0 && items.length === total
  const whole = tree === null ? null : readAsked(tree, quoted)
  if (tree === null || whole === null || (isWhole && asksOneForm(db, whole))) return { chats: [], warnings: [] }
  // If one thing was asked for and found, a chat that has nothing but its parts is not close.
  const required = items.length > 0 && asksOneThing(whole, request.q) ? inAnyForm(db, whole) : []
  const shown = new Set<string>(items.map(({ chat }) => chat.id))
  const strict = new Set([...quoted, ...required])
  const related = (asked: QueryNode | null): Related =>
    findRelated(db, { tree: allOf([asked ?? [], required].flat()), quoted: strict }, request, shown, deadline)
  const nodes = tree.kind === 'and' ? tree.nodes : [tree]
  const flags = nodes.flatMap((node) => (node.kind === 'not' && isOfWords(node.node) ? [node] : []))
  if (flags.length === 0 || items.length > 0) return related(tree)
  const others = nodes.filter((node) => !flags.some((flag) => flag === node))
  // Something is found without the exclusions, so the text was copied and they are flags.
  const found = findsAny(db, allOf(others), request, deadline) ? null : related(tree)
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
