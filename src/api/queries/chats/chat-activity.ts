import type { Mirror } from '../../../mirror/open.ts'
import { soundParts } from '../../../mirror/parse-parts.ts'
import { useOfTool } from './chat-acts.ts'

/** A file that a chat changed. */
export interface ChatEdit {
  /** As in the tool call: absolute, or relative to the root of the chat's project. */
  readonly path: string
  /** Epoch milliseconds. An edit without its own time has the time of the end of the chat. */
  readonly atMs: number
}

/** When a chat was active and which files it edited, including its subagents. */
export interface ChatActivity {
  readonly num: number
  readonly id: string
  readonly title: string
  readonly projectNum: number
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

/** The chats that were active in a period, each with the chat that its work counts for: a subagent's is its parent's. */
const ACTIVE = `
  with active as materialized (
    select c.num, c.id, coalesce(p.num, c.num) as chat, coalesce(c.last_activity_at, c.created_at) as ended_at
    from chats c
    left join chats p
      on p.id = coalesce(c.parent_chat_id, (select min(parent_id) from chat_links where child_id = c.id))
    where c.project in (select value from json_each(@projects)) and c.is_draft = 0 and c.message_count > 0
      and coalesce(c.last_activity_at, c.created_at) >= @fromMs and coalesce(c.created_at, c.last_activity_at) <= @toMs
  )
`

const CHATS = `${ACTIVE}
  select num, id, title, project as projectNum from chats where num in (select chat from active) order by num
`

const OWN_TIME = `m.created_at_source in ('message', 'header', 'timing')`

const TIMES = `${ACTIVE}
  select a.chat, m.created_at as value
  from active a join messages m on m.chat = a.num
  where m.is_orphan = 0 and m.created_at between @fromMs and @toMs and ${OWN_TIME}
  order by m.created_at
`

const TRACKED = `${ACTIVE}
  select a.chat, time.value
  from active a
  join tracked t on t.chat_id = a.id
  join json_each(json_array(t.first_at, t.last_at)) time
  where time.value between @fromMs and @toMs
  order by time.value
`

const TOOL_NAMES = `select name from names where kind = 'tool'`

/**
 * Uses the marks of a message to find calls of editing tools, so that the parts of other messages are not read: tool
 * outputs are most of the data. Only the paths of a call leave the database.
 */
const EDITS = `${ACTIVE}
  select a.chat, json_object('path', path.value, 'atMs', iif(${OWN_TIME}, m.created_at, a.ended_at)) as value
  from active a
  join messages m on m.chat = a.num
  join bodies b on b.num = m.body
  join json_each(${soundParts('b.parts')}) p
  join json_each(p.value, '$.paths') path
  where m.is_orphan = 0 and m.tool_calls > 0
    and (not ${OWN_TIME} or m.created_at between @fromMs and @toMs)
    and exists (select 1 from json_each(m.marks) k where k.value in (select value from json_each(@marks)))
    and p.value ->> '$.kind' = 'tool'
    and p.value ->> '$.name' in (select value from json_each(@tools))
    and p.value ->> '$.status' in ('completed', 'running')
  order by a.chat, m.position
`

/** The chats of some projects that were active in a period. */
export function readChatActivity(db: Mirror, { projectNums, fromMs, toMs }: ActivityRequest): ChatActivity[] {
  const names = db.prepare<[], string>(TOOL_NAMES).pluck().all()
  const tools = names.filter((name) => useOfTool(name) === 'edits')
  const marks = JSON.stringify(tools.map((name) => `tool:${name}`))
  const period = { projects: JSON.stringify(projectNums), fromMs, toMs, tools: JSON.stringify(tools), marks }
  const readByChat = <Value>(sql: string): ReadonlyMap<number, readonly Value[]> => {
    const values = new Map<number, Value[]>()
    const rows = db.prepare<[object], { readonly chat: number; readonly value: Value }>(sql).iterate(period)
    for (const { chat, value } of rows) append(values, chat, value)
    return values
  }
  const times = readByChat<number>(TIMES)
  const tracked = readByChat<number>(TRACKED)
  const edits = readByChat<string>(EDITS)
  const chats = db.prepare<[object], Pick<ChatActivity, 'num' | 'id' | 'title' | 'projectNum'>>(CHATS).all(period)
  return chats.map((chat) => ({
    ...chat,
    timesMs: times.get(chat.num) ?? [],
    trackedMs: tracked.get(chat.num) ?? [],
    edits: (edits.get(chat.num) ?? []).map((edit) => JSON.parse(edit) as ChatEdit),
  }))
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
