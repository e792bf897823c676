import { CALL_CHAT_PREFIX } from '../../../model/chat.ts'
import type { Mirror } from '../../../mirror/open.ts'
import { ARCHIVE } from '../../../mirror/sources/sources.ts'
import type { ChatId } from '../../../model/ids.ts'
import type { Chat } from '../../answers/chats.ts'
import type { ProjectRef } from '../../answers/projects.ts'
import { answerRow, MACHINE_REF, PROJECT_REF, SOURCE_NAME, type Row } from '../answer-row.ts'
import { isListedOnly } from '../../../mirror/write/chat-columns.ts'

/**
 * A link may name a chat that no source has any more. Its id is listed anyway, unless the id was only guessed, or is another
 * id of the chat itself.
 */
const CHILD_IDS = `
  select json_group_array(id) from (
    select links.id
    from (
      select child_id as id from chat_links where parent_id = c.id
      union
      select id from chats where parent_chat_id = c.id and is_subagent = 1
    ) links left join chats child on child.id = links.id
    where links.id <> c.id
      and (child.id is not null or '${CALL_CHAT_PREFIX}' not in (
        substr(links.id, 1, ${CALL_CHAT_PREFIX.length}), substr(c.id, 1, ${CALL_CHAT_PREFIX.length})
      ))
    order by child.created_at, links.id
  )
`

/**
 * Cursor says `generating`, or wrote a message in the last two minutes. A Cursor that was killed leaves the word, so it
 * counts for an hour.
 */
const IS_RUNNING = `(
  c.is_live = 1 and unixepoch('now') * 1000 - ifnull(c.last_activity_at, 0)
    < iif(c.status = 'generating', ${60 * 60_000}, ${2 * 60_000})
)`

const CHATS_BY_NUM = `
  select
    c.id, c.title, c.title_source as titleSource, c.summary, ${PROJECT_REF}, c.project_source as projectSource,
    iif(c.worktree is null, null, json_object('name', w.name, 'path', w.path)) as worktree,
    c.created_at as createdAt, c.last_activity_at as lastActivityAt,
    c.mode, c.branch, c.model, c.models, c.model_source as modelSource,
    c.message_count as messageCount, c.user_message_count as userMessageCount, c.tool_call_count as toolCallCount,
    c.size_bytes as sizeBytes, c.format, ${SOURCE_NAME}, case s.kind when '${ARCHIVE}' then s.path end as origin, c.status,
    c.is_archived as isArchived, c.is_subagent as isSubagent,
    iif(c.is_subagent = 0, null, coalesce(
      c.parent_chat_id,
      (select min(l.parent_id) from chat_links l where l.child_id = c.id and l.parent_id <> c.id)
    )) as parentChatId,
    (${CHILD_IDS}) as childChatIds,
    1 - c.is_live as deletedInCursor, c.deleted_at as deletedAt,
    c.lines_added as linesAdded, c.lines_removed as linesRemoved, c.files_changed as filesChanged,
    iif(coalesce(c.context_used, c.context_limit) is null, null,
      json_object('used', c.context_used, 'limit', c.context_limit, 'items', json(ifnull(c.context_items, '[]')))
    ) as contextTokens,
    c.recorded_cost_cents as recordedCostCents, ${IS_RUNNING} as running,
    ${isListedOnly('c')} as isListedOnly, ${MACHINE_REF}
  from json_each(?) wanted
  join chats c on c.num = wanted.value
  join sources s on s.num = c.source
  left join projects p on p.num = c.project
  left join projects w on w.num = c.worktree
  left join machines h on h.id = c.machine
  order by wanted.key
`

/** The chats of these row numbers, in the given order. Unknown numbers are left out. */
export const readChats = (db: Mirror, nums: readonly number[]): Chat[] =>
  db
    .prepare<[string], Row>(CHATS_BY_NUM)
    .all(JSON.stringify(nums))
    .map((row) => answerRow<Chat>(row, ['project', 'worktree', 'models', 'childChatIds', 'contextTokens', 'machine']))

const NAMED_CHATS = `
  select c.num, c.id, c.title, ${PROJECT_REF}
  from json_each(?) wanted join chats c on c.num = wanted.value left join projects p on p.num = c.project
`

export interface NamedChat {
  readonly id: ChatId
  readonly title: string
  readonly project: ProjectRef | null
}

/** Chats by number. */
export function readNamedChats(db: Mirror, nums: readonly number[]): ReadonlyMap<number, NamedChat> {
  const rows = db.prepare<[string], Row & { readonly num: number }>(NAMED_CHATS).all(JSON.stringify(nums))
  return new Map(rows.map(({ num, ...row }) => [num, answerRow<NamedChat>(row, ['project'])]))
}
