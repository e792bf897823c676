import type { ArchivedChat } from '../../../archive/record.ts'
import { FORMAT, FORMAT_VERSION } from '../../../archive/record.ts'
import type { Mirror } from '../../../mirror/open.ts'
import { prepared } from '../../../mirror/prepared.ts'
import { ARCHIVE } from '../../../mirror/sources/source-ranks.ts'
import { toIso } from '../../iso.ts'
import { readArchivedLinks } from './archived-links.ts'

interface ChatRow {
  readonly id: string
  readonly title: string
  readonly source: string
  readonly restoredFrom: string | null
  readonly storeFormat: string
  readonly name: string | null
  readonly summary: string | null
  readonly todos: string | null
  readonly createdAtMs: number | null
  readonly updatedAtMs: number | null
  readonly mode: string | null
  readonly branch: string | null
  readonly model: string | null
  readonly status: string | null
  readonly isArchived: number
  readonly isDraft: number
  readonly isSubagent: number
  readonly deletedAtMs: number | null
  readonly parentChatId: string | null
  readonly linesAdded: number | null
  readonly linesRemoved: number | null
  readonly filesChanged: number | null
  readonly contextUsed: number | null
  readonly contextLimit: number | null
  readonly recordedCostCents: number | null
  readonly octets: number
}

/** What the chat's stores said, put together; what follows from the messages is left to be derived from them. */
const CHAT = `
  select
    c.id, c.title, s.kind as source, case s.kind when '${ARCHIVE}' then s.path end as restoredFrom, c.format as storeFormat, c.name, c.summary, c.todos,
    c.cursor_created_at as createdAtMs, c.cursor_updated_at as updatedAtMs, c.mode, c.branch, c.cursor_model as model,
    c.status, c.is_archived as isArchived, c.is_draft as isDraft, c.is_subagent as isSubagent,
    c.deleted_at as deletedAtMs, c.parent_chat_id as parentChatId,
    c.lines_added as linesAdded, c.lines_removed as linesRemoved, c.files_changed as filesChanged,
    c.context_used as contextUsed, c.context_limit as contextLimit, c.recorded_cost_cents as recordedCostCents, c.octets
  from chats c join sources s on s.num = c.source
  where c.num = ?
`

/**
 * A chat as an archive holds it, without its messages.
 * @param origin of the mirror; a chat that came out of another one's archive keeps that one's
 * @returns null where the mirror has no such chat
 */
export function readArchivedChat(db: Mirror, num: number, origin: string): ArchivedChat | null {
  const row = prepared<ChatRow>(db, CHAT).get(num)
  if (row === undefined) return null
  return {
    format: FORMAT,
    version: FORMAT_VERSION,
    id: row.id,
    title: row.title,
    origin: row.restoredFrom ?? origin,
    source: row.source,
    storeFormat: row.storeFormat as ArchivedChat['storeFormat'],
    name: row.name,
    summary: row.summary,
    todos: row.todos === null ? [] : (JSON.parse(row.todos) as ArchivedChat['todos']),
    createdAt: toIso(row.createdAtMs),
    updatedAt: toIso(row.updatedAtMs),
    mode: row.mode,
    branch: row.branch,
    model: row.model,
    status: row.status,
    isArchived: row.isArchived === 1,
    isDraft: row.isDraft === 1,
    isSubagent: row.isSubagent === 1,
    deletedAt: toIso(row.deletedAtMs),
    parentChatId: row.parentChatId,
    ...readArchivedLinks(db, num, row.id),
    linesAdded: row.linesAdded,
    linesRemoved: row.linesRemoved,
    filesChanged: row.filesChanged,
    contextTokens:
      row.contextUsed === null && row.contextLimit === null ? null : { used: row.contextUsed, limit: row.contextLimit },
    recordedCostCents: row.recordedCostCents,
    octets: row.octets,
  }
}
