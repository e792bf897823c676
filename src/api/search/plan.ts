import type { Mirror } from '../../mirror/open.ts'
import type { TermPhrase, WantedPhrase } from '../../text/passages/matcher.ts'
import { columnNames } from '../../text/terms/columns.ts'
import type { Clock } from '../periods.ts'
import {
  allHold,
  anyHolds,
  doesNotHold,
  driveOf,
  expressionOf,
  hasPrefix,
  heldByWords,
  never,
  spellingsOf,
  wantedWords,
  wordPhrases,
  type Condition,
  type Words,
} from './condition.ts'
import { LAST_KEY, resolveField } from './fields.ts'
import { hasWords, type FieldNode, type InsideNode, type QueryNode } from './query.ts'
import { statementOf, type Target } from './statement.ts'
import { termsInside } from './vocabulary.ts'

/** How a query is run on the mirror: the one statement for its messages, and the one for titles. */
export interface Plan {
  /** What a message must meet. */
  readonly condition: Condition
  readonly messages: Target
  /** What a chat and a message of it must meet, for a hit by the title. */
  readonly titles: Target
  /** What to mark in a snippet. */
  readonly phrases: readonly WantedPhrase[]
  /** The words by which messages and titles are ranked. Each word is listed once. */
  readonly words: readonly Words[]
  readonly warnings: readonly string[]
}

/** @param trees all of them must match; `in:` in one of them also applies to the words of the others */
export function planQuery(db: Mirror, trees: readonly QueryNode[], clock: Clock): Plan {
  const warnings: string[] = []
  const [only] = trees
  const tree: QueryNode = trees.length === 1 && only !== undefined ? only : { kind: 'and', nodes: trees }
  const read: Read = { db, clock, warnings, fields: new Map(), isTitle: false, places: null }
  const condition = conditionOf(tree, read)
  const ofTitle = heldByWords(conditionOf(tree, { ...read, isTitle: true }))
  const words = [condition, ofTitle].flatMap(wantedWords)
  return {
    condition,
    messages: targetOf(db, condition),
    titles: targetOf(db, ofTitle),
    words: distinct(words, ({ phrases }) => phrases),
    phrases: distinct(words.flatMap(spellingsOf), (phrase) => phrase),
    warnings,
  }
}

const distinct = <Item>(items: readonly Item[], of: (item: Item) => unknown): readonly Item[] => [
  ...new Map(items.map((item) => [JSON.stringify(of(item)), item])).values(),
]

/** The messages of more chats are spread over all times. */
const FEW_CHATS_MAX = 200

function targetOf(db: Mirror, condition: Condition): Target {
  const { match, rest } = driveOf(condition)
  const keys = rest.filter((part) => part.kind === 'keys')
  const low = keys.reduce((least, part) => (part.low > least ? part.low : least), 1n)
  const high = keys.reduce((most, part) => (part.high < most ? part.high : most), LAST_KEY)
  const others = rest.filter((part) => part.kind !== 'keys')
  const own = { match, rest: others, isPossible: condition.kind !== 'never', isCostly: hasPrefix(condition) }
  const chats = others.flatMap((part) => (part.kind === 'chats' ? [part] : []))
  const reach = chats.length === 0 ? null : reachOf(db, chats)
  if (reach === null) return { ...own, low, high, isOfFewChats: false }
  const within = { low: reach.low > low ? reach.low : low, high: reach.high < high ? reach.high : high }
  return { ...own, ...within, isOfFewChats: true }
}

/** The smallest and the largest key of the messages of a few chats; null if there are more. */
function reachOf(
  db: Mirror,
  tests: readonly { readonly sql: string; readonly values: readonly string[] }[],
): { readonly low: bigint; readonly high: bigint } | null {
  const values = tests.flatMap((test) => test.values)
  const isOf = tests.map(({ sql }) => `(${sql})`).join(' and ')
  const sql = `
    select count(*) as chats, max(0, ifnull(min(low), 1)) as low, ifnull(max(high), 0) as high from (
      select (select min(key) from messages m where m.chat = c.num) as low,
        (select max(key) from messages m where m.chat = c.num) as high
      from chats c where ${isOf} limit ${FEW_CHATS_MAX + 1}
    )
  `
  const found = statementOf<{ chats: number; low: number; high: number }>(db, sql).get(...values)
  if (found === undefined || found.chats > FEW_CHATS_MAX) return null
  return { low: BigInt(found.low), high: BigInt(found.high) }
}

interface Read {
  readonly db: Mirror
  readonly clock: Clock
  readonly warnings: string[]
  readonly fields: Map<FieldNode, Condition>
  /** Whether words are searched in the title of a chat, and not in the message itself. */
  readonly isTitle: boolean
  /** The parts in which words count; null for all. */
  readonly places: ReadonlySet<string> | null
}

/** Looks up the words and fields of a query in the mirror. */
function conditionOf(node: QueryNode, read: Read): Condition {
  switch (node.kind) {
    case 'words':
      return wordsCondition(wordPhrases(node.text, node.isPrefix), read, false)
    case 'inside':
      return wordsCondition(insidePhrases(node, read), read, true)
    case 'field':
      return fieldCondition(node, read)
    case 'not':
      return doesNotHold(conditionOf(node.node, read))
    case 'or':
      return anyHolds(node.nodes.map((each) => conditionOf(each, read)))
    default:
      return togetherCondition(node.nodes, read)
  }
}

/** `in:` restricts the words next to it to a part. Without words next to it, it asks whether a message has that part. */
function togetherCondition(nodes: readonly QueryNode[], read: Read): Condition {
  const others = nodes.filter((node) => namedPlaces(node) === null)
  const isRestricted = others.length < nodes.length && others.some(hasWords)
  const places = isRestricted ? nodes.reduce(restrict, read.places) : read.places
  return allHold((isRestricted ? others : nodes).map((node) => conditionOf(node, { ...read, places })))
}

function namedPlaces(node: QueryNode): { readonly names: readonly string[]; readonly isExcluded: boolean } | null {
  if (node.kind === 'field' && node.name === 'in') return { names: node.values, isExcluded: false }
  return node.kind === 'not' && node.node.kind === 'field' && node.node.name === 'in'
    ? { names: node.node.values, isExcluded: true }
    : null
}

function restrict(places: Read['places'], node: QueryNode): Read['places'] {
  const named = namedPlaces(node)
  if (named === null) return places
  const before = places === null ? [...columnNames, 'title'] : [...places]
  return new Set(before.filter((name) => named.names.includes(name) !== named.isExcluded))
}

function wordsCondition(
  phrases: readonly TermPhrase[],
  { isTitle, places }: Pick<Read, 'isTitle' | 'places'>,
  isExpanded: boolean,
): Condition {
  const columns = columnNames.filter((name) => places?.has(name) !== false)
  if (phrases.length === 0 || (isTitle ? places?.has('title') === false : columns.length === 0)) return never
  const isEverywhere = isTitle || columns.length === columnNames.length
  return { kind: 'words', phrases, columns: isEverywhere ? null : columns, isWord: true, isExpanded }
}

/** A cache, because one search may plan many queries with the same node. */
const expanded = new WeakMap<InsideNode, readonly TermPhrase[]>()

function insidePhrases(node: InsideNode, { db, warnings }: Read): readonly TermPhrase[] {
  const known = expanded.get(node) ?? termsInside(db, node, warnings)
  expanded.set(node, known)
  return known
}

function fieldCondition(field: FieldNode, { db, clock, fields, isTitle }: Read): Condition {
  const known = fields.get(field) ?? resolveField(db, field, clock)
  fields.set(field, known)
  return isTitle ? ofMessage(known) : known
}

/** A title has no marks. So the marks of the message that is shown for the title are tested. */
function ofMessage(condition: Condition): Condition {
  const expression = expressionOf(condition)
  if (expression === null && condition.kind !== 'not') return condition
  if (condition.kind === 'not') return doesNotHold(ofMessage(condition.of))
  const sql = 'm.key in (select rowid from message_terms where message_terms match ?)'
  return { kind: 'messages', sql, values: [expression ?? ''] }
}
