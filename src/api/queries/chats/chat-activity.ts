import type { Mirror } from '../../../mirror/open.ts'
import { prepared } from '../../../mirror/sql.ts'
import { useOfTool } from '../../../shared/tools.ts'

/** A message or an edit of a chat or of one of its subagents, or code of the chat that Cursor recorded. */
export interface TimedAct {
  readonly kind: 'message' | 'edit' | 'recorded'
  /** Row number of the chat. A subagent's acts are its parent's. */
  readonly num: number
  readonly id: string
  readonly title: string
  readonly projectNum: number
  /** Epoch milliseconds. An edit without its own time has the time of the end of the chat. */
  readonly atMs: number
  /** The file of an edit, as in the tool call: absolute, or relative to the root of the chat's project. */
  readonly path: string
}

const OWN_TIME = `m.created_at_source in ('message', 'header', 'timing')`

/**
 * Of messages, only own times count, not those of a neighbour or of the chat. Of tool calls, only paths are read. `cross join`
 * makes SQLite begin with the few chats: it would begin with all calls.
 */
const ACTS = `
  with active as materialized (
    select c.num, c.id, coalesce(p.num, c.num) as chat, coalesce(c.last_activity_at, c.created_at) as ended_at
    from chats c
    left join chats p
      on c.is_subagent = 1 and p.id = coalesce(c.parent_chat_id, (select min(parent_id) from chat_links where child_id = c.id))
    where c.project in (select value from json_each(@projects)) and c.is_draft = 0 and c.message_count > 0
      and coalesce(c.last_activity_at, c.created_at) >= @fromMs and coalesce(c.created_at, c.last_activity_at) <= @toMs
  ), acts as (
    select 'message' as kind, a.chat, m.created_at as atMs, '' as path, null as tool
    from active a cross join messages m on m.chat = a.num
    where m.is_orphan = 0 and m.created_at between @fromMs and @toMs and ${OWN_TIME}
    union all
    select 'recorded', a.chat, time.value, '', null
    from active a cross join tracked t on t.chat_id = a.id join json_each(json_array(t.first_at, t.last_at)) time
    where time.value between @fromMs and @toMs
    union all
    select 'edit', a.chat, iif(${OWN_TIME}, m.created_at, a.ended_at), u.path, u.tool
    from active a cross join messages m on m.chat = a.num cross join calls u on u.body = m.body
    where m.is_orphan = 0 and m.tool_calls > 0 and (not ${OWN_TIME} or m.created_at between @fromMs and @toMs)
      and u.path is not null and u.status in ('completed', 'running')
  )
  select acts.kind, c.num, c.id, c.title, c.project as projectNum, acts.atMs, acts.path, acts.tool
  from acts join chats c on c.num = acts.chat order by acts.atMs
`

/** What the chats of some projects did in a period, in order. Both bounds are inclusive. */
export function listActs(db: Mirror, projectNums: readonly number[], fromMs: number, toMs: number): TimedAct[] {
  const period = { projects: JSON.stringify(projectNums), fromMs, toMs }
  const acts = prepared<TimedAct & { readonly tool: string | null }>(db, ACTS).all(period)
  return acts.filter(({ tool }) => tool === null || useOfTool(tool) === 'edits')
}

/** A score with zero chat lines means that the commit contains no code of any chat. */
const SCORED = `
  select distinct sha from scored_commits
  where sha in (select value from json_each(?)) and coalesce(chat_lines, 1) > 0
`

/** Which of these commits Cursor scored and found code of chats in. */
export const readScoredCommits = (db: Mirror, shas: readonly string[]): ReadonlySet<string> =>
  new Set(prepared<string>(db, SCORED).pluck().all(JSON.stringify(shas)))
