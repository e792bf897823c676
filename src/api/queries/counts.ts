import type { Mirror } from '../../mirror/open.ts'
import type { ToolStatus } from '../../model/part.ts'
import { bind, bindPeriod, COUNTED, narrow, within, type MessageScope } from './message-sums.ts'

/** A chat, as statistics count it. */
export interface CountedChat {
  readonly num: number
  readonly project: number | null
  readonly mode: string | null
  readonly isSubagent: number
  readonly sizeBytes: number
  /** Messages of the whole thread. */
  readonly length: number
  /** From the first to the last message with its own time; null if unknown. */
  readonly durationMs: number | null
  readonly linesAdded: number | null
  readonly linesRemoved: number | null
  readonly filesChanged: number | null
}

const listChats = (scope: MessageScope): string => `
  select num, project, mode, is_subagent as isSubagent, size_bytes as sizeBytes, message_count as length,
    duration_ms as durationMs, lines_added as linesAdded, lines_removed as linesRemoved, files_changed as filesChanged
  from (select num as chat, * from chats) m where true ${narrow(scope)}
`

/** Subagents too. */
export const readCountedChats = (db: Mirror, scope: MessageScope): CountedChat[] =>
  db.prepare<[object], CountedChat>(listChats(scope)).all(bind(scope))

/** Messages of a chat with one model in a quarter of an hour. */
export type CountRow = readonly [
  chat: number,
  quarter: number,
  model: string | null,
  messages: number,
  users: number,
  calls: number,
  approximate: number,
]

const listCounts = (scope: MessageScope): string => `
  select m.chat, m.quarter, m.model, m.messages, m.users, m.calls, m.approximate
  from (${COUNTED}) m where true ${narrow(scope)}
`

/** @param period values from `bindPeriod`, or `ofUndated`; by default the period of the scope */
export const readCounts = (
  db: Mirror,
  scope: MessageScope,
  period = bindPeriod(scope.fromMs, scope.toMs),
): CountRow[] =>
  db
    .prepare<[object], CountRow>(listCounts(scope))
    .raw()
    .all({ ...bind(scope), ...period })

const fromCalls = (scope: MessageScope): string => `
  from messages m indexed by callers cross join calls u on u.body = m.body
  where m.is_orphan = 0 and m.tool_calls > 0 ${within(scope, 'm.created_at')} ${narrow(scope)}
`

export interface ToolRow {
  readonly tool: string
  readonly status: ToolStatus
  readonly calls: number
}

const listTools = (scope: MessageScope): string => `
  select u.tool, u.status, count(*) as calls ${fromCalls(scope)} and u.file = 0 group by 1, 2
`

export const readTools = (db: Mirror, scope: MessageScope): ToolRow[] =>
  db.prepare<[object], ToolRow>(listTools(scope)).all(bind(scope))

const FILES_MAX = 20
/** Failed and rejected calls touched no files. */
const listFiles = (scope: MessageScope): string => `
  select u.path, count(*) filter (where u.tool in (select value from json_each(@reading))) as reads,
    count(*) filter (where u.tool in (select value from json_each(@editing))) as edits
  ${fromCalls(scope)} and u.path is not null and u.status in ('completed', 'running')
    and u.tool in (select value from json_each(@reading) union all select value from json_each(@editing))
  group by 1 order by count(*) desc, 1 limit ${FILES_MAX}
`

export interface FileRow {
  readonly path: string
  readonly reads: number
  readonly edits: number
}

/** The files that were used most. @param reading names of tools */
export const readFiles = (
  db: Mirror,
  scope: MessageScope,
  reading: readonly string[],
  editing: readonly string[],
): FileRow[] =>
  db
    .prepare<[object], FileRow>(listFiles(scope))
    .all({ ...bind(scope), reading: JSON.stringify(reading), editing: JSON.stringify(editing) })

const countWaiting = (scope: MessageScope): string => `select count(*) from uncounted m where true ${narrow(scope)}`

/** How many chats wait for their calls. */
export const readUncounted = (db: Mirror, scope: MessageScope): number =>
  db.prepare<[object], number>(countWaiting(scope)).pluck().get(bind(scope)) ?? 0
