import { quarterOf, UNDATED_QUARTER } from '../../mirror/sum-tables.ts'
import type { Mirror } from '../../mirror/open.ts'
import { prepared } from '../../mirror/sql.ts'
import { ONLY_MODEL } from '../../mirror/usage/usage-events.ts'
import { sortKeyFloor } from '../../mirror/write/messages.ts'
import { isOfMachines } from './machines.ts'
import type { ToolCount } from '../answers/chats.ts'
import type { Stats } from '../answers/stats.ts'
import { toolsByUse } from './files.ts'

/** What a list or report is about. */
export interface Scope {
  /** From `resolveProjects`. An empty list matches nothing; null matches everything. */
  readonly projectNums: readonly number[] | null
  /** From `resolveMachines`, in the same way. */
  readonly machineNums: readonly number[] | null
  /** Epoch milliseconds, inclusive. */
  readonly fromMs: number | null
  /** Epoch milliseconds, exclusive. */
  readonly toMs: number | null
}

/** Which messages, chats and events count. */
export interface MessageScope extends Scope {
  /** Chats that were never sent, from `readDrafts`. Their messages do not count. */
  readonly draftNums: readonly number[]
  /** Exact names; null: any. */
  readonly models: readonly string[] | null
}

const DRAFTS = `select num from chats where is_draft = 1 and message_count > 0`

/** Drafts with messages. There are few. */
export const readDrafts = (db: Mirror): number[] => prepared<number>(db, DRAFTS).pluck().all()

const OF_PROJECTS = `(select num from chats where project in (select value from json_each(@projects)))`
const OF_MACHINES = `(select c.num from chats c where ${isOfMachines('c', '@machines')})`
const OF_MODELS = `(
  m.model in (select value from json_each(@models)) or m.model is null and m.chat in (
    select c.num from chats c where ${ONLY_MODEL} in (select value from json_each(@models))
  )
)`

export type Bound = Readonly<Record<string, string | number | bigint | null>>

/** Values for all parameters of a scope. SQLite ignores those that a statement does not use. */
export function bind({ projectNums, machineNums, draftNums, models, fromMs, toMs }: MessageScope): Bound {
  return {
    projects: JSON.stringify(projectNums),
    machines: JSON.stringify(machineNums),
    drafts: JSON.stringify(draftNums),
    models: JSON.stringify(models),
    fromMs,
    toMs,
  }
}

export function narrow({ projectNums, machineNums, draftNums, models }: MessageScope): string {
  const tests = [
    projectNums === null ? '' : `and m.chat in ${OF_PROJECTS}`,
    machineNums === null ? '' : `and m.chat in ${OF_MACHINES}`,
    draftNums.length === 0 ? '' : `and m.chat not in (select value from json_each(@drafts))`,
    models === null ? '' : `and ${OF_MODELS}`,
  ]
  return tests.join(' ')
}

export function within({ fromMs, toMs }: MessageScope, column: string): string {
  return [fromMs === null ? '' : `and ${column} >= @fromMs`, toMs === null ? '' : `and ${column} < @toMs`].join(' ')
}

/**
 * Kept sums of whole quarters of an hour, and the messages between them and the bounds of the period. Keys grow with time,
 * so a period is a range of keys.
 */
export const COUNTED = `
  select quarter, chat, nullif(model, '') as model, messages, users, calls, estimated, input, output
  from message_sums where quarter >= @fromQuarter and quarter < @toQuarter
  union all ${edge('start')}
  union all ${edge('end')}
`

function edge(name: 'start' | 'end'): string {
  return `
    select ${quarterOf('created_at')}, chat, model, 1, role = 'user', tool_calls,
      estimated_input is not null, estimated_input, estimated_output
    from messages not indexed
    where key >= @${name}Key and key < @${name}KeyEnd and created_at >= @${name}Ms and created_at < @${name}EndMs
      and is_orphan = 0
  `
}

export const QUARTER_MS = 900_000
/** A key may be slightly later than the time of its message. */
const KEY_SLACK = 64 * 1024 * 1024

/** Values for all parameters of a sum over a period, in epoch milliseconds. Without any bound, undated messages count. */
export function bindPeriod(fromMs: number | null, toMs: number | null): Bound {
  const isEndless = fromMs === null && toMs === null
  const fromQuarter = fromMs === null ? UNDATED_QUARTER + Number(!isEndless) : Math.ceil(fromMs / QUARTER_MS)
  const toQuarter = toMs === null ? Number.MAX_SAFE_INTEGER : Math.floor(toMs / QUARTER_MS)
  // The whole period can be inside one quarter.
  const isInside = fromMs !== null && toMs !== null && fromQuarter > toQuarter
  const start = fromMs === null ? NOTHING : ([fromMs, isInside ? toMs : fromQuarter * QUARTER_MS] as const)
  const end = toMs === null || isInside ? NOTHING : ([toQuarter * QUARTER_MS, toMs] as const)
  return { fromQuarter, toQuarter, ...bindEdge('start', start), ...bindEdge('end', end) }
}

const NOTHING = [0, 0] as const

function bindEdge(name: 'start' | 'end', [fromMs, toMs]: readonly [number, number]): Bound {
  const isEmpty = fromMs >= toMs
  return {
    [`${name}Key`]: isEmpty ? 0 : BigInt(sortKeyFloor(fromMs)),
    [`${name}KeyEnd`]: isEmpty ? 0 : BigInt(sortKeyFloor(toMs) + KEY_SLACK),
    [`${name}Ms`]: fromMs,
    [`${name}EndMs`]: toMs,
  }
}

/** The period of the messages without a time. */
export const ofUndated: Bound = {
  ...bindPeriod(0, 0),
  fromQuarter: UNDATED_QUARTER,
  toQuarter: UNDATED_QUARTER + 1,
}

/** A chat, as statistics count it. */
export interface CountedChat {
  readonly num: number
  readonly project: number | null
  readonly mode: string | null
  readonly isSubagent: number
  /** Messages of the whole thread. */
  readonly length: number
  readonly linesAdded: number | null
  readonly linesRemoved: number | null
}

const listChats = (scope: MessageScope): string => `
  select num, project, mode, is_subagent as isSubagent, message_count as length, lines_added as linesAdded,
    lines_removed as linesRemoved
  from (select num as chat, * from chats) m where true ${narrow(scope)}
`

/** Subagents too. */
export const readCountedChats = (db: Mirror, scope: MessageScope): CountedChat[] =>
  prepared<CountedChat>(db, listChats(scope)).all(bind(scope))

/** Messages of a chat with one model in a quarter of an hour. */
export type CountRow = readonly [
  chat: number,
  quarter: number,
  model: string | null,
  messages: number,
  users: number,
  calls: number,
]

const listCounts = (scope: MessageScope): string => `
  select m.chat, m.quarter, m.model, m.messages, m.users, m.calls
  from (${COUNTED}) m where true ${narrow(scope)}
`

/** @param period values from `bindPeriod`, or `ofUndated`; by default the period of the scope */
export const readCounts = (
  db: Mirror,
  scope: MessageScope,
  period = bindPeriod(scope.fromMs, scope.toMs),
): CountRow[] =>
  prepared<CountRow>(db, listCounts(scope))
    .raw()
    .all({ ...bind(scope), ...period })

const fromCalls = (scope: MessageScope): string => `
  from messages m indexed by callers cross join calls u on u.body = m.body
  where m.is_orphan = 0 and m.tool_calls > 0 ${within(scope, 'm.created_at')} ${narrow(scope)}
`

const listTools = (scope: MessageScope): string => `
  select u.tool as name, count(*) as calls, count(*) filter (where u.status = 'error') as errors,
    count(*) filter (where u.status = 'rejected') as rejected
  ${fromCalls(scope)} and u.file = 0 group by 1 order by calls desc, name
`

/** The most called first. */
export const readTools = (db: Mirror, scope: MessageScope): ToolCount[] =>
  prepared<ToolCount>(db, listTools(scope)).all(bind(scope))

const FILES_MAX = 20
/** Failed and rejected calls touched no files. */
const listFiles = (scope: MessageScope): string => `
  select u.path, count(*) filter (where u.tool in (select value from json_each(@reading))) as reads,
    count(*) filter (where u.tool in (select value from json_each(@editing))) as edits
  ${fromCalls(scope)} and u.path is not null and u.status in ('completed', 'running')
    and u.tool in (select value from json_each(@reading) union all select value from json_each(@editing))
  group by 1 order by count(*) desc, 1 limit ${FILES_MAX}
`

type FileRow = Stats['topFiles'][number]

/** The files that were used most. */
export const readFiles = (db: Mirror, scope: MessageScope): FileRow[] =>
  prepared<FileRow>(db, listFiles(scope)).all({ ...bind(scope), ...toolsByUse(db) })

const countWaiting = (scope: MessageScope): string => `select count(*) from uncounted m where true ${narrow(scope)}`

/** How many chats wait for their calls. */
export const readUncounted = (db: Mirror, scope: MessageScope): number =>
  prepared<number>(db, countWaiting(scope)).pluck().get(bind(scope)) ?? 0
