import type { Mirror } from '../../mirror/open.ts'
import { prepared } from '../../mirror/sql.ts'
import { sortKeyFloor } from '../../mirror/write/messages.ts'
import { UserError } from '../../model/user-error.ts'
import { type TermPhrase, type WantedPhrase, createMatcher } from '../../text/passages/matcher.ts'
import { asPathTerm, columnNames, foldName, markTerm } from '../../text/terms/columns.ts'
import { type Clock, readPeriod } from '../periods.ts'
import { isOfMachines, resolveMachines } from '../queries/scope.ts'
import { belowRoot, resolveProjects } from '../queries/projects.ts'
import {
  type Condition,
  type Test,
  type Words,
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
} from './condition.ts'
import { hasWords, partNames, type FieldName, type FieldNode, type InsideNode, type QueryNode } from './query.ts'
import type { Target } from './statement.ts'
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
  const read: Read = { db, clock, warnings: [], fields: new Map(), isTitle: false, places: partNames }
  const condition = togetherCondition(trees, read)
  const ofTitle = heldByWords(togetherCondition(trees, { ...read, isTitle: true }))
  const words = [condition, ofTitle].flatMap(wantedWords)
  return {
    condition,
    messages: targetOf(db, condition),
    titles: targetOf(db, ofTitle),
    words: distinct(words, ({ phrases }) => phrases),
    phrases: distinct(words.flatMap(spellingsOf), (phrase) => phrase),
    warnings: read.warnings,
  }
}

const distinct = <Item>(items: readonly Item[], of: (item: Item) => unknown): readonly Item[] => [
  ...new Map(items.map((item) => [JSON.stringify(of(item)), item])).values(),
]

/** Smaller keys are those of messages without a time, which match no date. This key is about a week after the epoch. */
export const FIRST_DATED_KEY = 1_024_000_000_000
/** Larger than the key of every message, and no larger than SQLite's numbers. */
const LAST_KEY = 2 ** 63 - 1024

function targetOf(db: Mirror, condition: Condition): Target {
  const { match, rest } = driveOf(condition)
  const keys = rest.filter((part) => part.kind === 'keys')
  const chats = rest.flatMap((part) => (part.kind === 'chats' ? [part] : []))
  const reach = chats.length === 0 ? null : reachOf(db, chats)
  return {
    match,
    rest: rest.filter((part) => part.kind !== 'keys'),
    low: BigInt(Math.max(1, reach?.low ?? 1, ...keys.map(({ low }) => low))),
    high: BigInt(Math.min(reach?.high ?? LAST_KEY, ...keys.map(({ high }) => high))),
    isPossible: condition.kind !== 'or' || condition.all.length > 0,
    isOfFewChats: reach !== null,
    isCostly: hasPrefix(condition),
  }
}

/** The messages of more chats are spread over all times. */
const FEW_CHATS_MAX = 200

/** The smallest and the largest key of the messages of a few chats; null if there are more. */
function reachOf(
  db: Mirror,
  tests: readonly Extract<Test, { readonly sql: string }>[],
): { readonly low: number; readonly high: number } | null {
  const sql = `
    select count(*) as chats, ifnull(min(low), 1) as low, ifnull(max(high), 0) as high from (
      select (select min(key) from messages m where m.chat = c.num) as low,
        (select max(key) from messages m where m.chat = c.num) as high
      from chats c where ${tests.map((test) => `(${test.sql})`).join(' and ')} limit ${FEW_CHATS_MAX + 1}
    )
  `
  const statement = prepared<{ chats: number; low: number; high: number }>(db, sql)
  const found = statement.get(...tests.flatMap(({ values }) => values))
  return found === undefined || found.chats > FEW_CHATS_MAX ? null : found
}

interface Read {
  readonly db: Mirror
  readonly clock: Clock
  readonly warnings: string[]
  /** What is known of a field: the tree is read twice, for messages and for titles. */
  readonly fields: Map<FieldNode, Condition>
  /** Whether words are searched in the title of a chat, and not in the message itself. */
  readonly isTitle: boolean
  /** The parts in which words count. */
  readonly places: readonly string[]
}

/** Looks up the words and fields of a query in the mirror. */
function conditionOf(node: QueryNode, read: Read): Condition {
  switch (node.kind) {
    case 'words':
      return wordsCondition(wordPhrases(node.text, node.isPrefix), read, false)
    case 'inside':
      return wordsCondition(insidePhrases(node, read), read, true)
    case 'field': {
      const condition = read.fields.get(node) ?? resolvers[node.name](read.db, node.values, read.clock)
      read.fields.set(node, condition)
      return read.isTitle ? ofMessage(condition) : condition
    }
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
  const others = nodes.filter((node) => placesOf(node) === null)
  if (!others.some(hasWords)) return allHold(nodes.map((node) => conditionOf(node, read)))
  const places = read.places.filter((name) => nodes.every((node) => placesOf(node)?.includes(name) !== false))
  return allHold(others.map((node) => conditionOf(node, { ...read, places })))
}

/** The parts that an `in:` leaves. Null for any other node. */
function placesOf(node: QueryNode, isExcluded = false): readonly string[] | null {
  if (node.kind === 'not') return placesOf(node.node, true)
  if (node.kind !== 'field' || node.name !== 'in') return null
  return partNames.filter((name) => node.values.includes(name) !== isExcluded)
}

function wordsCondition(
  phrases: readonly TermPhrase[],
  { isTitle, places }: Pick<Read, 'isTitle' | 'places'>,
  isExpanded: boolean,
): Condition {
  const columns = columnNames.filter((name) => places.includes(name))
  if (phrases.length === 0 || (isTitle ? !places.includes('title') : columns.length === 0)) return never
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

/** A title has no marks. So the marks of the message that is shown for the title are tested. */
function ofMessage(condition: Condition): Condition {
  const expression = expressionOf(condition)
  if (expression === null) return condition
  const sql = 'm.key in (select rowid from message_terms where message_terms match ?)'
  return { kind: 'messages', sql, values: [expression] }
}

type Resolve = (db: Mirror, values: readonly string[], clock: Clock) => Condition

const isIn = (column: string): string => `${column} in (select value from json_each(?))`

// A message without a model has the model of its chat.
const IS_OF_MODEL = `${isIn('m.model')}
  or (m.model is null and m.chat in (select num from chats where ${isIn('model')}))`
const MODELS = `select name from names where kind = 'model' union select model from chats where model is not null`
const MODES = `select distinct mode from chats where mode is not null`
const TOOLS = `select name from names where kind = 'tool'`

/** An `in:` that restricts words is not handled here but with the words. */
const resolvers: Readonly<Record<FieldName, Resolve>> = {
  project: (db, values) => asks('chats', isIn('c.project'), resolveProjects(db, values)),
  machine: (db, values) => asks('chats', isOfMachines('c', '?'), resolveMachines(db, values)),
  worktree: (_, values) => asks('chats', `c.worktree in (select num from projects where ${isIn('name')})`, values),
  chat: (db, values) => {
    const ids = values.map((value) => wholeId(db, value))
    return asks('chats', isIn('c.id'), ids)
  },
  mode: (db, values) => asks('chats', isIn('c.mode'), findNames(db, MODES, values)),
  model: (db, values) => asks('messages', IS_OF_MODEL, findNames(db, MODELS, values)),
  branch: (_, values) => asks('chats', isIn('c.branch'), values),
  role: (_, values) => asks('messages', isIn('m.role'), values),
  tool: (db, values) => anyHolds(findNames(db, TOOLS, values).map((name) => mark(`tool:${name}`))),
  path: (db, values) => anyHolds(values.flatMap((value) => [pathCondition(value), belowRootCondition(db, value)])),
  in: (_, values) => anyHolds(values.map((value) => (value === 'title' ? never : mark(`in:${value}`)))),
  has: (_, values) => anyHolds(values.map((value) => mark(`has:${value}`))),
  is: (_, values, { nowMs }) =>
    anyHolds(values.map((value) => states[value] ?? asks('chats', IS_ACTIVE_SINCE, [nowMs - ACTIVE_MS]))),
  before: (_, values, clock) => dated(values, clock, (start) => [0, start]),
  after: (_, values, clock) => dated(values, clock, (start) => [start, LAST_KEY]),
  on: (_, values, clock) => dated(values, clock, (start, end) => [start, end]),
}

/** @param sql each `?` in it stands for the values, as JSON */
function asks(kind: 'chats' | 'messages', sql: string, values: readonly (string | number)[] = []): Condition {
  const places = sql.split('?').length - 1
  return places > 0 && values.length === 0
    ? never
    : { kind, sql, values: Array<string>(places).fill(JSON.stringify(values)) }
}

const states: Readonly<Record<string, Condition>> = {
  archived: asks('chats', 'c.is_archived = 1'),
  subagent: asks('chats', 'c.is_subagent = 1'),
  orphan: asks('messages', 'm.is_orphan = 1'),
  deleted: asks('messages', 'm.is_live = 0 or m.chat in (select num from chats where is_live = 0)'),
}
/** Only a filter asks whether a chat is active: until so long after its last message. */
const ACTIVE_MS = 10 * 60_000
const IS_ACTIVE_SINCE = 'c.last_activity_at >= (select value from json_each(?))'

/** @param within the first key and the end, by the start and the end of a period */
function dated(
  values: readonly string[],
  clock: Clock,
  within: (start: number, end: number) => readonly [low: number, end: number],
): Condition {
  const tests = values.flatMap((value): readonly Test[] => {
    const period = readPeriod(value, clock)
    if (period === null) return []
    const [low, end] = within(sortKeyFloor(period.startMs), sortKeyFloor(period.endMs))
    return [{ kind: 'keys', low: Math.max(low, FIRST_DATED_KEY), high: end - 1 }]
  })
  return anyHolds(tests)
}

/** Shorter beginnings of an id fit too many chats. */
const PREFIX_MIN = 4
const LISTED_MAX = 5
const IDS_BY_PREFIX = `
  select id from chats where id >= @prefix and id < @prefix || char(0x10ffff) order by id limit ${LISTED_MAX + 1}
`

/**
 * The id that a user means by an id or its beginning. A text that fits no chat is returned as it is.
 * @throws UserError `several-chats` if several ids begin like this
 */
function wholeId(db: Mirror, prefix: string): string {
  if (prefix.length < PREFIX_MIN) return prefix
  const ids = prepared<string>(db, IDS_BY_PREFIX, 'values').all({ prefix })
  const [first = prefix, ...others] = ids
  if (first === prefix || others.length === 0) return first
  const listed = `${ids.slice(0, LISTED_MAX).join(', ')}${ids.length > LISTED_MAX ? ' and more' : ''}`
  const message = `Several chats have an id that begins with ${prefix}: ${listed}.`
  throw new UserError('several-chats', message, 'Give more characters of the id.', { exitCode: 2 })
}

const marked = (phrases: readonly TermPhrase[]): Condition =>
  phrases.length === 0 ? never : { kind: 'words', phrases, columns: null, isWord: false, isExpanded: false }

const mark = (name: string): Condition => marked([{ terms: [markTerm(name)], isPrefix: false }])

/** The parts of the path must be adjacent. A star splits it: then each piece must be in the path. */
function pathCondition(value: string): Condition {
  const pieces = value.split('*')
  const spelt = pieces.map((piece, index) => {
    const isPrefix = index < pieces.length - 1 && /[\p{L}\p{M}\p{N}]$/u.test(piece)
    return wordPhrases(piece, isPrefix).map((phrase) => ({ ...phrase, terms: phrase.terms.map(asPathTerm) }))
  })
  const found = spelt.filter(({ length }) => length > 0)
  return found.length === 0 ? never : allHold(found.map(marked))
}

/** Most calls name a file below the root of their project. */
function belowRootCondition(db: Mirror, value: string): Condition {
  const found = belowRoot(db, value)
  return found === null ? never : allHold([asks('chats', isIn('c.project'), [found.num]), pathCondition(found.path)])
}

/**
 * The names that the values mean: the name with the same spelling, except for case and punctuation; else all names that
 * contain its parts, as `edit` means `edit_file`. A star at the end allows any ending.
 */
function findNames(db: Mirror, sql: string, values: readonly string[]): readonly string[] {
  const names = prepared<string>(db, sql, 'values').all()
  const found = values.flatMap((value) => {
    const isPrefix = value.endsWith('*')
    const exact = isPrefix ? [] : names.filter((name) => foldName(name) === foldName(value))
    if (exact.length > 0) return exact
    const matcher = createMatcher(wordPhrases(isPrefix ? value.slice(0, -1) : value, isPrefix))
    return names.filter((name) => matcher.find(name).length > 0)
  })
  return [...new Set(found)]
}
