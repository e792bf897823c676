import { CALL_CHAT_PREFIX, type ChatFormat, type ModelSource, type TitleSource } from '../../../model/chat.ts'
import { asChatId, asProjectId } from '../../../model/ids.ts'
import type { ChatId } from '../../../model/ids.ts'
import type { Mirror } from '../../../mirror/open.ts'
import { ARCHIVE, HUB } from '../../../mirror/sources/sources.ts'
import { toIso } from '../../iso.ts'
import type { Chat } from '../../answers/chats.ts'
import { toMachine, type MachineColumns } from '../machines.ts'

interface ChatRow extends MachineColumns {
  readonly num: number
  readonly id: string
  readonly title: string
  readonly titleSource: string
  readonly summary: string | null
  readonly projectId: string | null
  readonly projectName: string | null
  readonly projectSource: string | null
  readonly createdAtMs: number | null
  readonly lastActivityAtMs: number | null
  readonly mode: string | null
  readonly branch: string | null
  readonly model: string | null
  readonly models: string
  readonly modelSource: string | null
  readonly messageCount: number
  readonly userMessageCount: number
  readonly toolCallCount: number
  readonly sizeBytes: number
  readonly format: string
  readonly source: string
  readonly origin: string | null
  readonly status: string | null
  readonly isArchived: number
  readonly isSubagent: number
  readonly parentChatId: string | null
  readonly isLive: number
  readonly deletedAtMs: number | null
  readonly linesAdded: number | null
  readonly linesRemoved: number | null
  readonly filesChanged: number | null
  readonly contextUsed: number | null
  readonly contextLimit: number | null
  readonly recordedCostCents: number | null
}

const CHATS_BY_NUM = `
  select
    c.num, c.id, c.title, c.title_source as titleSource, c.summary,
    p.id as projectId, p.name as projectName, c.project_source as projectSource,
    c.created_at as createdAtMs, c.last_activity_at as lastActivityAtMs,
    c.mode, c.branch, c.model, c.models, c.model_source as modelSource,
    c.message_count as messageCount, c.user_message_count as userMessageCount, c.tool_call_count as toolCallCount,
    c.size_bytes as sizeBytes, c.format, case s.kind when '${HUB}' then s.path else s.kind end as source,
    case s.kind when '${ARCHIVE}' then s.path end as origin, c.status,
    c.is_archived as isArchived, c.is_subagent as isSubagent,
    coalesce(
      c.parent_chat_id,
      (select min(l.parent_id) from chat_links l where l.child_id = c.id and l.parent_id <> c.id)
    ) as parentChatId,
    c.is_live as isLive, c.deleted_at as deletedAtMs,
    c.lines_added as linesAdded, c.lines_removed as linesRemoved, c.files_changed as filesChanged,
    c.context_used as contextUsed, c.context_limit as contextLimit, c.recorded_cost_cents as recordedCostCents,
    h.name as machineName, h.user as machineUser
  from json_each(?) wanted
  join chats c on c.num = wanted.value
  join sources s on s.num = c.source
  left join projects p on p.num = c.project
  left join machines h on h.id = c.machine
  order by wanted.key
`

/** The chats of these row numbers, in the given order. Unknown numbers are left out. */
export function readChats(db: Mirror, nums: readonly number[]): Chat[] {
  const rows = db.prepare<[string], ChatRow>(CHATS_BY_NUM).all(JSON.stringify(nums))
  const children = readChildIds(db, rows)
  return rows.map((row) => toChat(row, children.get(row.id) ?? []))
}

/** A link may name a chat that no source has any more. Its id is returned anyway, unless the id was only guessed. */
const CHILD_IDS = `
  with wanted as (select c.id from json_each(?) w join chats c on c.num = w.value),
  links as (
    select l.parent_id as parentId, l.child_id as childId
    from wanted join chat_links l on l.parent_id = wanted.id
    union
    select c.parent_chat_id, c.id
    from wanted join chats c on c.parent_chat_id = wanted.id
  )
  select links.parentId, links.childId
  from links left join chats c on c.id = links.childId
  where links.parentId <> links.childId
    and (c.id is not null or substr(links.childId, 1, ${CALL_CHAT_PREFIX.length}) <> '${CALL_CHAT_PREFIX}')
  order by links.parentId, c.created_at, links.childId
`

function readChildIds(db: Mirror, rows: readonly ChatRow[]): Map<string, ChatId[]> {
  const nums = JSON.stringify(rows.map((row) => row.num))
  const byParent = new Map<string, ChatId[]>()
  for (const link of db.prepare<[string], { parentId: string; childId: string }>(CHILD_IDS).iterate(nums)) {
    const ids = byParent.get(link.parentId)
    if (ids === undefined) byParent.set(link.parentId, [asChatId(link.childId)])
    else ids.push(asChatId(link.childId))
  }
  return byParent
}

function toChat(row: ChatRow, childChatIds: readonly ChatId[]): Chat {
  return {
    id: asChatId(row.id),
    title: row.title,
    titleSource: row.titleSource as TitleSource,
    summary: row.summary,
    project:
      row.projectId === null || row.projectName === null
        ? null
        : { id: asProjectId(row.projectId), name: row.projectName },
    projectSource: row.projectSource,
    createdAt: toIso(row.createdAtMs),
    lastActivityAt: toIso(row.lastActivityAtMs),
    mode: row.mode,
    branch: row.branch,
    model: row.model,
    models: JSON.parse(row.models) as string[],
    modelSource: row.modelSource as ModelSource | null,
    messageCount: row.messageCount,
    userMessageCount: row.userMessageCount,
    toolCallCount: row.toolCallCount,
    sizeBytes: row.sizeBytes,
    format: row.format as ChatFormat,
    source: row.source,
    origin: row.origin,
    status: row.status,
    isArchived: row.isArchived === 1,
    isSubagent: row.isSubagent === 1,
    parentChatId: row.parentChatId === null ? null : asChatId(row.parentChatId),
    childChatIds,
    deletedInCursor: row.isLive === 0,
    deletedAt: toIso(row.deletedAtMs),
    linesAdded: row.linesAdded,
    linesRemoved: row.linesRemoved,
    filesChanged: row.filesChanged,
    contextTokens:
      row.contextUsed === null && row.contextLimit === null ? null : { used: row.contextUsed, limit: row.contextLimit },
    recordedCostCents: row.recordedCostCents,
    machine: toMachine(row),
  }
}
