import type { Mirror } from '../../mirror/open.ts'
import { prepared } from '../../mirror/sql.ts'
import { sortKeyFloor } from '../../mirror/write/messages.ts'
import { UserError } from '../../model/user-error.ts'
import { createMatcher, type TermPhrase } from '../../text/passages/matcher.ts'
import { asPathTerm, foldName, markTerm } from '../../text/terms/columns.ts'
import { readPeriod, type Clock } from '../periods.ts'
import { isOfMachines, resolveMachines } from '../queries/scope.ts'
import { belowRoot, resolveProjects } from '../queries/projects.ts'
import { allHold, anyHolds, never, wordPhrases, type Condition, type Test } from './condition.ts'
import type { FieldName, FieldNode } from './query.ts'

type Resolve = (db: Mirror, values: readonly string[], clock: Clock) => Condition

/** Smaller keys are those of messages without a time, which match no date. This key is about a week after the epoch. */
export const FIRST_DATED_KEY = 1_024_000_000_000n
/** Larger than every key. */
export const LAST_KEY = 9_223_372_036_854_775_807n

const IS_OF_PROJECTS = `c.project in (select value from json_each(?))`
const IS_OF_MACHINES = isOfMachines('c', '?')
const IS_OF_WORKTREES = `c.worktree in (select num from projects where name in (select value from json_each(?)))`
const IS_OF_IDS = `c.id in (select value from json_each(?))`
const IDS_BY_PREFIX = `select id from chats where id >= @prefix and id < @prefix || char(0x10ffff) order by id`
const IS_OF_MODES = `c.mode in (select value from json_each(?))`
const IS_OF_BRANCHES = `c.branch in (select value from json_each(?))`
const IS_ARCHIVED = `c.is_archived = 1`
const IS_SUBAGENT = `c.is_subagent = 1`

const IS_OF_ROLE = `m.role in (select value from json_each(?))`
const IS_ORPHAN = `m.is_orphan = 1`
const IS_ACTIVE_SINCE = 'c.last_activity_at >= (select value from json_each(?))'
const IS_DELETED = `m.is_live = 0 or m.chat in (select num from chats where is_live = 0)`
// A message without a model has the model of its chat.
const IS_OF_MODEL = `
  m.model in (select value from json_each(?))
  or (m.model is null and m.chat in (select num from chats where model in (select value from json_each(?))))
`

const resolvers: Readonly<Record<Exclude<FieldName, 'in'>, Resolve>> = {
  project: (db, values) => chats(IS_OF_PROJECTS, resolveProjects(db, values)),
  machine: (db, values) => chats(IS_OF_MACHINES, resolveMachines(db, values)),
  worktree: (_, values) => chats(IS_OF_WORKTREES, values),
  chat: (db, values) =>
    chats(
      IS_OF_IDS,
      values.map((value) => wholeId(db, value)),
    ),
  mode: (db, values) => {
    const names = findNames(db, 'mode', values)
    return names.length === 0 ? never : chats(IS_OF_MODES, names)
  },
  model: (db, values) => {
    const names = findNames(db, 'model', values)
    const json = JSON.stringify(names)
    return names.length === 0 ? never : columns(IS_OF_MODEL, [json, json])
  },
  branch: (_, values) => chats(IS_OF_BRANCHES, values),
  role: (_, values) => columns(IS_OF_ROLE, [JSON.stringify(values)]),
  tool: (db, values) => anyHolds(findNames(db, 'tool', values).map((name) => mark(`tool:${name}`))),
  path: (db, values) => anyHolds(values.flatMap((value) => [pathCondition(value), ...belowRootCondition(db, value)])),
  has: (_, values) => anyHolds(values.map((value) => mark(`has:${value}`))),
  is: (_, values, clock) => anyHolds(values.map((value) => stateCondition(value, clock))),
  before: (_, values, clock) => periods(values, clock, 'before'),
  after: (_, values, clock) => periods(values, clock, 'after'),
  on: (_, values, clock) => periods(values, clock, 'on'),
}

/** The condition of a field. An `in:` that restricts words is not handled here but with the words. */
export function resolveField(db: Mirror, { name, values }: FieldNode, clock: Clock): Condition {
  if (name === 'in') return anyHolds(values.map((value) => (value === 'title' ? never : mark(`in:${value}`))))
  return resolvers[name](db, values, clock)
}

/** Shorter beginnings of an id fit too many chats. */
const PREFIX_MIN = 4
const LISTED_MAX = 5

/**
 * The id that a user means by an id or its beginning. A text that fits no chat is returned as it is.
 * @throws UserError `several-chats` if several ids begin like this
 */
function wholeId(db: Mirror, typed: string): string {
  if (typed.length < PREFIX_MIN) return typed
  const ids = prepared<string>(db, `${IDS_BY_PREFIX} limit ${LISTED_MAX + 1}`)
    .pluck()
    .all({ prefix: typed })
  const [first = typed, ...others] = ids
  if (first === typed || others.length === 0) return first
  const listed = `${ids.slice(0, LISTED_MAX).join(', ')}${ids.length > LISTED_MAX ? ' and more' : ''}`
  const message = `Several chats have an id that begins with ${typed}: ${listed}.`
  throw new UserError('several-chats', message, 'Give more characters of the id.', { exitCode: 2 })
}

const columns = (sql: string, values: readonly string[]): Condition => ({ kind: 'messages', sql, values })

/** @param sql an expression over `c`, a chat; `?` stands for the values as JSON */
const chats = (sql: string, values: readonly (string | number)[]): Condition => ({
  kind: 'chats',
  sql,
  values: sql.includes('?') ? [JSON.stringify(values)] : [],
})

const marked = (phrases: readonly TermPhrase[]): Condition =>
  phrases.length === 0 ? never : { kind: 'words', phrases, columns: null, isWord: false, isExpanded: false }

const mark = (name: string): Condition => marked([{ terms: [markTerm(name)], isPrefix: false }])

/** The parts of the path must be adjacent. A star splits it: then each piece must be in the path. */
function pathCondition(value: string): Condition {
  const pieces = value.split('*')
  const conditions = pieces.flatMap((piece, index): readonly Condition[] => {
    const isPrefix = index < pieces.length - 1 && /[\p{L}\p{M}\p{N}]$/u.test(piece)
    const phrases = wordPhrases(piece, isPrefix).map((phrase) => ({ ...phrase, terms: phrase.terms.map(asPathTerm) }))
    return phrases.length === 0 ? [] : [marked(phrases)]
  })
  return conditions.length === 0 ? never : allHold(conditions)
}

/** Most calls name a file below the root of their project. */
function belowRootCondition(db: Mirror, value: string): readonly Condition[] {
  const found = belowRoot(db, value)
  return found === null ? [] : [allHold([chats(IS_OF_PROJECTS, [found.num]), pathCondition(found.path)])]
}

/** Until so long after its last message a chat counts as active. */
const ACTIVE_MS = 10 * 60_000

/** @param state as the language has it, or `active`, which only a filter asks for */
function stateCondition(state: string, { nowMs }: Clock): Condition {
  if (state === 'active') return chats(IS_ACTIVE_SINCE, [nowMs - ACTIVE_MS])
  if (state === 'archived') return chats(IS_ARCHIVED, [])
  if (state === 'subagent') return chats(IS_SUBAGENT, [])
  return state === 'orphan' ? columns(IS_ORPHAN, []) : columns(IS_DELETED, [])
}

/** `before` means earlier than the start of the period, `after` means from its start on. */
function periods(values: readonly string[], clock: Clock, relation: 'before' | 'after' | 'on'): Condition {
  const tests = values.flatMap((value): readonly Test[] => {
    const period = readPeriod(value, clock)
    if (period === null) return []
    const start = keyAt(period.startMs)
    const low = relation === 'before' ? FIRST_DATED_KEY : start
    const high = relation === 'after' ? LAST_KEY : (relation === 'on' ? keyAt(period.endMs) : start) - 1n
    return [{ kind: 'keys', low: low > FIRST_DATED_KEY ? low : FIRST_DATED_KEY, high }]
  })
  return anyHolds(tests)
}

const keyAt = (ms: number): bigint => BigInt(sortKeyFloor(ms))

/**
 * The names that a value means: the name with the same spelling, except for case and punctuation; else all names that
 * contain its parts, as `edit` means `edit_file`. A star at the end allows any ending.
 */
function matchNames(value: string, names: readonly string[]): readonly string[] {
  const isPrefix = value.endsWith('*')
  const exact = isPrefix ? [] : names.filter((name) => foldName(name) === foldName(value))
  if (exact.length > 0) return exact
  const phrases = wordPhrases(isPrefix ? value.slice(0, -1) : value, isPrefix)
  const matcher = createMatcher(phrases)
  return names.filter((name) => matcher.find(name).length > 0)
}

const LIST_NAMES = `select name from names where kind = @kind`
const LIST_MODELS = `
  select name from names where kind = 'model' union select model from chats where model is not null
`
const LIST_MODES = `select distinct mode from chats where mode is not null`

function findNames(db: Mirror, kind: 'tool' | 'model' | 'mode', values: readonly string[]): readonly string[] {
  const names =
    kind === 'tool'
      ? prepared<string>(db, LIST_NAMES).pluck().all({ kind })
      : prepared<string>(db, kind === 'model' ? LIST_MODELS : LIST_MODES)
          .pluck()
          .all()
  return [...new Set(values.flatMap((value) => matchNames(value, names)))]
}
