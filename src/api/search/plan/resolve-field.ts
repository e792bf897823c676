import type { Mirror } from '../../../mirror/open.ts'
import { sortKeyFloor } from '../../../mirror/write/messages.ts'
import { asPathTerm, markTerm, foldName } from '../../../text/terms/columns.ts'
import { readPeriod, type Clock } from '../../periods.ts'
import { isOfMachines, resolveMachines } from '../../queries/machines.ts'
import { resolveProjects } from '../../queries/projects/list-projects.ts'
import type { FieldName, FieldNode } from '../language/tree.ts'
import { allHold, anyHolds, never, type Condition, type Test } from './condition.ts'
import { valuesOf } from '../match/statement.ts'
import { wordPhrases } from './word-phrases.ts'
import { createMatcher } from '../../../text/passages/matcher.ts'

type Resolve = (db: Mirror, values: readonly string[], clock: Clock) => Condition

/** Smaller keys are those of messages without a time, which match no date. This key is about a week after the epoch. */
const FIRST_DATED_KEY = 1_024_000_000_000n
export const LAST_KEY = 9_223_372_036_854_775_807n

const IS_OF_PROJECTS = `c.project in (select value from json_each(?))`
const IS_OF_MACHINES = isOfMachines('c', '?')
const IS_OF_WORKTREES = `c.worktree in (select num from projects where name in (select value from json_each(?)))`
const IS_OF_IDS = `c.id in (select value from json_each(?))`
const IS_OF_MODES = `c.mode in (select value from json_each(?))`
const IS_ARCHIVED = `c.is_archived = 1`
const IS_SUBAGENT = `c.is_subagent = 1`

const IS_OF_ROLE = `m.role in (select value from json_each(?))`
const IS_ORPHAN = `m.is_orphan = 1`
const IS_DELETED = `m.is_live = 0 or m.chat in (select num from chats where is_live = 0)`
// A message without a model has the model of its chat.
const IS_OF_MODEL = `
  m.model in (select value from json_each(?))
  or (m.model is null and m.chat in (select num from chats where model in (select value from json_each(?))))
`

const resolvers: Readonly<Record<Exclude<FieldName, 'in'>, Resolve>> = {
  project: (db, values) => chats(db, IS_OF_PROJECTS, resolveProjects(db, values), `project is ${list(values)}`),
  machine: (db, values) => chats(db, IS_OF_MACHINES, resolveMachines(db, values), `machine is ${list(values)}`),
  worktree: (db, values) => chats(db, IS_OF_WORKTREES, values, `worktree is ${list(values)}`),
  chat: (db, values) => chats(db, IS_OF_IDS, values, `chat is ${list(values)}`),
  mode: (db, values) => {
    const names = findNames(db, 'mode', values)
    return names.length === 0 ? never : chats(db, IS_OF_MODES, names, `mode is ${list(names)}`)
  },
  model: (db, values) => {
    const names = findNames(db, 'model', values)
    const json = JSON.stringify(names)
    return names.length === 0 ? never : columns(IS_OF_MODEL, [json, json], `model is ${list(names)}`)
  },
  role: (_, values) => columns(IS_OF_ROLE, [JSON.stringify(values)], `role is ${list(values)}`),
  tool: (db, values) => anyHolds(findNames(db, 'tool', values).map((name) => mark(`tool:${name}`))),
  path: (_, values) => anyHolds(values.map(pathCondition)),
  has: (_, values) => anyHolds(values.map((value) => mark(`has:${value}`))),
  is: (db, values) => anyHolds(values.map((value) => stateCondition(db, value))),
  before: (_, values, clock) => periods(values, clock, 'before'),
  after: (_, values, clock) => periods(values, clock, 'after'),
  on: (_, values, clock) => periods(values, clock, 'on'),
}

/** The condition of a field. An `in:` that restricts words is not handled here but with the words. */
export function resolveField(db: Mirror, { name, values }: FieldNode, clock: Clock): Condition {
  if (name === 'in') return anyHolds(values.map((value) => (value === 'title' ? never : mark(`in:${value}`))))
  return resolvers[name](db, values, clock)
}

const list = (values: readonly string[]): string => values.join(' or ')

const columns = (sql: string, values: readonly (string | number)[], says: string): Condition => ({
  kind: 'test',
  test: { kind: 'sql', sql, values, says },
})

/** Up to this many chats are listed by number. If there are more, the chat of each message is tested. */
const LISTED_CHATS_MAX = 2000

/** @param sql an expression over `c`, a chat; `?` stands for the values as JSON */
function chats(db: Mirror, sql: string, values: readonly (string | number)[], says: string): Condition {
  const bound = sql.includes('?') ? [JSON.stringify(values)] : []
  const select = `select c.num from chats c where ${sql} limit ${LISTED_CHATS_MAX + 1}`
  const nums = valuesOf<number>(db, select.replace('?', '@values')).all({ values: bound[0] ?? '' })
  const asked = {
    kind: 'sql',
    sql: `exists (select 1 from chats c where c.num = m.chat and ${sql})`,
    values: bound,
    says,
  } as const
  return { kind: 'test', test: nums.length > LISTED_CHATS_MAX ? asked : { kind: 'chats', nums, says, asked } }
}

function mark(name: string): Condition {
  const phrases = [{ terms: [markTerm(name)], isPrefix: false }]
  return { kind: 'match', match: { kind: 'phrases', phrases, columns: null, isWord: false } }
}

/** The parts of the path must be adjacent. A star splits it: then each piece must be in the path. */
function pathCondition(value: string): Condition {
  const pieces = value.split('*')
  const conditions = pieces.flatMap((piece, index): readonly Condition[] => {
    const isPrefix = index < pieces.length - 1 && /[\p{L}\p{M}\p{N}]$/u.test(piece)
    const phrases = wordPhrases(piece, isPrefix).map((phrase) => ({ ...phrase, terms: phrase.terms.map(asPathTerm) }))
    if (phrases.length === 0) return []
    return [{ kind: 'match', match: { kind: 'phrases', phrases, columns: null, isWord: false } }]
  })
  return conditions.length === 0 ? never : allHold(conditions)
}

function stateCondition(db: Mirror, state: string): Condition {
  if (state === 'archived') return chats(db, IS_ARCHIVED, [], 'chat is archived')
  if (state === 'subagent') return chats(db, IS_SUBAGENT, [], 'chat is subagent')
  return state === 'orphan' ? columns(IS_ORPHAN, [], 'is an orphan') : columns(IS_DELETED, [], 'is deleted in Cursor')
}

/** `before` means earlier than the start of the period, `after` means from its start on. */
function periods(values: readonly string[], clock: Clock, relation: 'before' | 'after' | 'on'): Condition {
  const tests = values.flatMap((value): readonly Test[] => {
    const period = readPeriod(value, clock)
    if (period === null) return []
    const start = keyAt(period.startMs)
    const low = relation === 'before' ? FIRST_DATED_KEY : start
    const high = relation === 'after' ? LAST_KEY : (relation === 'on' ? keyAt(period.endMs) : start) - 1n
    const says = `time is ${relation} ${value}`
    return [{ kind: 'keys', low: low > FIRST_DATED_KEY ? low : FIRST_DATED_KEY, high, says }]
  })
  return anyHolds(tests.map((test) => ({ kind: 'test', test })))
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

export function findNames(db: Mirror, kind: 'tool' | 'model' | 'mode', values: readonly string[]): readonly string[] {
  const names =
    kind === 'tool'
      ? valuesOf<string>(db, LIST_NAMES).all({ kind })
      : valuesOf<string>(db, kind === 'model' ? LIST_MODELS : LIST_MODES).all({})
  return [...new Set(values.flatMap((value) => matchNames(value, names)))]
}
