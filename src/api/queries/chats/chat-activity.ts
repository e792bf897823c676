import type { Mirror } from '../../../mirror/open.ts'
import { useOfTool } from './chat-acts.ts'
import type { ChatId } from '../../../model/ids.ts'

/** A file that a chat changed. */
export interface ChatEdit {
  /** As the call named it: absolute, or from the root of the chat's project. */
  readonly path: string
  /** Epoch milliseconds. Null where the message has no time of its own. */
  readonly atMs: number | null
}

/** When a chat was at work and on what, what its subagents did included. */
export interface ChatActivity {
  readonly num: number
  readonly id: string
  readonly title: string
  /** On which it began. */
  readonly branch: string | null
  readonly projectNum: number
  /** Of the whole chat, epoch milliseconds; null where it is not known. */
  readonly startedAtMs: number | null
  readonly endedAtMs: number | null
  /** Of its messages within the stretch, ascending; only times that are their own, not a neighbour's or the chat's. */
  readonly timesMs: readonly number[]
  readonly edits: readonly ChatEdit[]
  /** When Cursor recorded code of it: the first and the last time of each hour. Ascending. */
  readonly trackedMs: readonly number[]
}

export interface ActivityRequest {
  readonly projectNums: readonly number[]
  /** Epoch milliseconds, both inclusive. */
  readonly fromMs: number
  readonly toMs: number
}

/** Of a chat of which neither time is known nothing can be said. Those at other times are read, too: they may be parents. */
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
      ) as isAtWork
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
 * The marks of a message tell whether it calls such a tool, so that no other message's parts are read: outputs of tools
 * are most of what there is. Of a call only its paths leave the database.
 */
const EDITS = `
  select m.chat, iif(${OWN_TIME}, m.created_at, null) as atMs, p.value ->> '$.paths' as paths
  from json_each(@chats) wanted
  join messages m on m.chat = wanted.value
  join bodies b on b.num = m.body
  join json_each(b.parts) p
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
  /** 1 or 0; null where neither time is known. */
  readonly isAtWork: number | null
}

/** The chats of some projects that were at work within a stretch. A subagent's work counts as its parent's. */
export function readChatActivity(db: Mirror, { projectNums, fromMs, toMs }: ActivityRequest): ChatActivity[] {
  const all = db.prepare<[object], ChatRow>(CHATS).all({ projects: JSON.stringify(projectNums), fromMs, toMs })
  const rows = all.filter(({ isAtWork }) => isAtWork === 1)
  const stretch = { chats: JSON.stringify(rows.map(({ num }) => num)), fromMs, toMs }
  const workers = workersOf(rows, all)
  const readTimes = (sql: string): ReadonlyMap<number, readonly number[]> => {
    const times = new Map<number, number[]>()
    for (const { chat, atMs } of db.prepare<[object], { chat: number; atMs: number }>(sql).iterate(stretch)) {
      append(times, workers.get(chat)?.num ?? chat, atMs)
    }
    return times
  }
  const [timesMs, trackedMs] = [readTimes(TIMES), readTimes(TRACKED)]
  const ends = new Map(rows.map(({ num, endedAtMs }) => [num, endedAtMs]))
  const edits = new Map<number, ChatEdit[]>()
  for (const { chat, atMs, paths } of readEdits(db, stretch)) {
    const worker = workers.get(chat)?.num ?? chat
    // What a subagent did at no known time it did before its own end, wherever its parent's is.
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

function readEdits(db: Mirror, stretch: object): Iterable<EditRow> {
  const names = db.prepare<[], string>(TOOL_NAMES).pluck().all()
  const tools = names.filter((name) => useOfTool(name) === 'edits')
  const marks = tools.map((name) => `tool:${name}`)
  return db
    .prepare<[object], EditRow>(EDITS)
    .iterate({ ...stretch, tools: JSON.stringify(tools), marks: JSON.stringify(marks) })
}

/** By chat, whose work its work is: of the furthest parent that is among all. */
function workersOf(rows: readonly ChatRow[], all: readonly ChatRow[]): Map<number, ChatRow> {
  const byId = new Map(all.map((row) => [row.id, row]))
  return new Map(rows.map((row) => [row.num, workerOf(row, byId)]))
}

/** Links come from the stores, which may have them go round in a circle: then it is the first of those in it. */
function workerOf(row: ChatRow, byId: ReadonlyMap<string, ChatRow>): ChatRow {
  const way = new Set([row])
  for (let worker = row; ;) {
    const parent = worker.parentId === null ? undefined : byId.get(worker.parentId)
    if (parent === undefined) return worker
    if (way.has(parent)) {
      const chats = [...way]
      return chats.slice(chats.indexOf(parent)).reduce((first, each) => (each.num < first.num ? each : first))
    }
    way.add(parent)
    worker = parent
  }
}

function append<Value>(lists: Map<number, Value[]>, key: number, value: Value): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}

/** A score of no lines at all says that the commit holds nothing of any chat. */
const SCORED = `
  select distinct sha from scored_commits
  where sha in (select value from json_each(?)) and coalesce(chat_lines, 1) > 0
`

/** Which of these commits Cursor looked at and found code of chats in, as far as it says. */
export const readScoredCommits = (db: Mirror, shas: readonly string[]): ReadonlySet<string> =>
  new Set(db.prepare<[string], string>(SCORED).pluck().all(JSON.stringify(shas)))

export interface ChatSpan {
  /** Epoch milliseconds. */
  readonly startedAtMs: number
  readonly endedAtMs: number
}

/** Of a circle of chats each stands once. */
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

/** From when to when a chat was there, or a subagent of it; null where that is not known, or no chat has this id. */
export function readChatSpan(db: Mirror, id: ChatId): ChatSpan | null {
  const span = db.prepare<[object], Partial<Record<keyof ChatSpan, number | null>>>(SPAN).get({ id })
  const { startedAtMs = null, endedAtMs = null } = span ?? {}
  return startedAtMs === null || endedAtMs === null ? null : { startedAtMs, endedAtMs }
}
