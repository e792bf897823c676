import type { Mirror } from '../../../mirror/open.ts'
import { soundParts } from '../../../mirror/parse-parts.ts'
import { useOfTool } from './chat-acts.ts'
import type { ChatId } from '../../../model/ids.ts'

/** A file that a chat changed. */
export interface ChatEdit {
  /** As in the tool call: absolute, or relative to the root of the chat's project. */
  readonly path: string
  /** Epoch milliseconds. Null if the message has no time of its own. */
  readonly atMs: number | null
}

/** When a chat was active and which files it edited, including its subagents. */
export interface ChatActivity {
  readonly num: number
  readonly id: string
  readonly title: string
  /** The branch on which it began. */
  readonly branch: string | null
  readonly projectNum: number
  /** Of the whole chat, in epoch milliseconds; null if unknown. */
  readonly startedAtMs: number | null
  readonly endedAtMs: number | null
  /** Times of its messages in the period, ascending. Only own times count, not those of a neighbour or of the chat. */
  readonly timesMs: readonly number[]
  readonly edits: readonly ChatEdit[]
  /** When Cursor recorded code of the chat: the first and the last time of each hour, ascending. */
  readonly trackedMs: readonly number[]
}

export interface ActivityRequest {
  readonly projectNums: readonly number[]
  /** Epoch milliseconds, both inclusive. */
  readonly fromMs: number
  readonly toMs: number
}

/** Chats outside the period are read too, because they may be parents. A chat with neither time known is never active. */
const CHATS = `
  select
    c.num, c.id, c.title, c.branch, c.project as projectNum,
    c.created_at as startedAtMs, c.last_activity_at as endedAtMs,
    coalesce(
      c.parent_chat_id,
      (select min(l.parent_id) from chat_links l where l.child_id = c.id and l.parent_id <> c.id)
    ) as parentId,
    (coalesce(c.last_activity_at, c.created_at) >= @fromMs
      and coalesce(c.created_at, c.last_activity_at) <= @toMs)
      or exists (
        select 1 from tracked t where t.chat_id = c.id and t.last_at >= @fromMs and t.first_at <= @toMs
      ) as isActive
  from chats c
  where c.project in (select value from json_each(@projects)) and c.is_draft = 0 and c.message_count > 0
  order by c.num
`

const OWN_TIME = `m.created_at_source in ('message', 'header', 'timing')`

const TIMES = `
  select m.chat, m.created_at as atMs
  from json_each(@chats) wanted join messages m on m.chat = wanted.value
  where m.is_orphan = 0 and m.created_at between @fromMs and @toMs and ${OWN_TIME}
  order by m.created_at
`

const TRACKED = `
  select c.num as chat, time.value as atMs
  from json_each(@chats) wanted
  join chats c on c.num = wanted.value
  join tracked t on t.chat_id = c.id
  join json_each(json_array(t.first_at, t.last_at)) time
  where time.value between @fromMs and @toMs
  order by time.value
`

const TOOL_NAMES = `select name from names where kind = 'tool'`

/**
 * Uses the marks of a message to find calls of editing tools, so that the parts of other messages are not read: tool
 * outputs are most of the data. Only the paths of a call leave the database.
 */
const EDITS = `
  select m.chat, iif(${OWN_TIME}, m.created_at, null) as atMs, p.value ->> '$.paths' as paths
  from json_each(@chats) wanted
  join messages m on m.chat = wanted.value
  join bodies b on b.num = m.body
  join json_each(${soundParts('b.parts')}) p
  where m.is_orphan = 0 and m.tool_calls > 0
    and (not ${OWN_TIME} or m.created_at between @fromMs and @toMs)
    and exists (select 1 from json_each(m.marks) k where k.value in (select value from json_each(@marks)))
    and p.value ->> '$.kind' = 'tool'
    and p.value ->> '$.name' in (select value from json_each(@tools))
    and p.value ->> '$.status' in ('completed', 'running')
  order by m.chat, m.position
`

interface ChatRow extends Omit<ChatActivity, 'timesMs' | 'edits' | 'trackedMs'> {
  readonly parentId: string | null
  /** 1 or 0; null if neither time is known. */
  readonly isActive: number | null
}

/** The chats of some projects that were active in a period. A subagent's work counts as its parent's. */
export function readChatActivity(db: Mirror, { projectNums, fromMs, toMs }: ActivityRequest): ChatActivity[] {
  const all = db.prepare<[object], ChatRow>(CHATS).all({ projects: JSON.stringify(projectNums), fromMs, toMs })
  const rows = all.filter(({ isActive }) => isActive === 1)
  const period = { chats: JSON.stringify(rows.map(({ num }) => num)), fromMs, toMs }
  const workers = workersOf(rows, all)
  const readTimes = (sql: string): ReadonlyMap<number, readonly number[]> => {
    const times = new Map<number, number[]>()
    for (const { chat, atMs } of db.prepare<[object], { chat: number; atMs: number }>(sql).iterate(period)) {
      append(times, workers.get(chat)?.num ?? chat, atMs)
    }
    return times
  }
  const [timesMs, trackedMs] = [readTimes(TIMES), readTimes(TRACKED)]
  const ends = new Map(rows.map(({ num, endedAtMs }) => [num, endedAtMs]))
  const edits = new Map<number, ChatEdit[]>()
  for (const { chat, atMs, paths } of readEdits(db, period)) {
    const worker = workers.get(chat)?.num ?? chat
    // A subagent's edit without a time happened before the subagent's own end, not only before its parent's.
    const whenMs = worker === chat ? atMs : (atMs ?? ends.get(chat) ?? null)
    for (const path of JSON.parse(paths) as readonly string[]) append(edits, worker, { path, atMs: whenMs })
  }
  const chats = new Map([...workers.values()].map((row) => [row.num, row]))
  return [...chats.values()]
    .sort((left, right) => left.num - right.num)
    .map((chat) => ({
      ...chat,
      timesMs: timesMs.get(chat.num) ?? [],
      trackedMs: trackedMs.get(chat.num) ?? [],
      edits: edits.get(chat.num) ?? [],
    }))
}

interface EditRow {
  readonly chat: number
  readonly atMs: number | null
  /** A list, as JSON. */
  readonly paths: string
}

function readEdits(db: Mirror, period: object): Iterable<EditRow> {
  const names = db.prepare<[], string>(TOOL_NAMES).pluck().all()
  const tools = names.filter((name) => useOfTool(name) === 'edits')
  const marks = tools.map((name) => `tool:${name}`)
  return db
    .prepare<[object], EditRow>(EDITS)
    .iterate({ ...period, tools: JSON.stringify(tools), marks: JSON.stringify(marks) })
}

/** For each chat, the chat to which its work belongs: the topmost known parent. */
function workersOf(rows: readonly ChatRow[], all: readonly ChatRow[]): Map<number, ChatRow> {
  const byId = new Map(all.map((row) => [row.id, row]))
  return new Map(rows.map((row) => [row.num, workerOf(row, byId)]))
}

/** Links come from the stores and may form a cycle. Then the chat with the lowest number in the cycle is used. */
function workerOf(row: ChatRow, byId: ReadonlyMap<string, ChatRow>): ChatRow {
  const path = new Set([row])
  for (let worker = row; ;) {
    const parent = worker.parentId === null ? undefined : byId.get(worker.parentId)
    if (parent === undefined) return worker
    if (path.has(parent)) {
      const chats = [...path]
      return chats.slice(chats.indexOf(parent)).reduce((first, each) => (each.num < first.num ? each : first))
    }
    path.add(parent)
    worker = parent
  }
}

export function append<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}

/** A score with zero chat lines means that the commit contains no code of any chat. */
const SCORED = `
  select distinct sha from scored_commits
  where sha in (select value from json_each(?)) and coalesce(chat_lines, 1) > 0
`

/** Which of these commits Cursor scored and found code of chats in. */
export const readScoredCommits = (db: Mirror, shas: readonly string[]): ReadonlySet<string> =>
  new Set(db.prepare<[string], string>(SCORED).pluck().all(JSON.stringify(shas)))

export interface ChatSpan {
  /** Epoch milliseconds. */
  readonly startedAtMs: number
  readonly endedAtMs: number
}

/** `union` removes duplicates, so that a cycle of chats ends. */
const SPAN = `
  with recursive family (id) as (
    select @id
    union select c.id from family f join chats c on c.parent_chat_id = f.id
    union select l.child_id from family f join chat_links l on l.parent_id = f.id
  )
  select min(coalesce(created_at, last_activity_at)) as startedAtMs,
    max(coalesce(last_activity_at, created_at)) as endedAtMs
  from chats where id in (select id from family)
`

/** The time from the start to the end of a chat and its subagents; null if unknown, or if no chat has this id. */
export function readChatSpan(db: Mirror, id: ChatId): ChatSpan | null {
  const span = db.prepare<[object], Partial<Record<keyof ChatSpan, number | null>>>(SPAN).get({ id })
  const { startedAtMs = null, endedAtMs = null } = span ?? {}
  return startedAtMs === null || endedAtMs === null ? null : { startedAtMs, endedAtMs }
}
