import type { ArchivedChat, ArchivedMessage } from '../../archive/record.ts'
import { FORMAT, FORMAT_VERSION } from '../../archive/record.ts'
import type { Mirror } from '../../mirror/open.ts'
import type { Part } from '../../model/part.ts'
import { toIso } from '../iso.ts'
import { readArchivedLinks } from './archived-links.ts'

interface ChatRow {
  readonly id: string
  readonly title: string
  readonly source: string
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
    c.id, c.title, s.kind as source, c.format as storeFormat, c.name, c.summary, c.todos,
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
 * @param origin of the mirror
 * @returns null where the mirror has no such chat
 */
export function readArchivedChat(db: Mirror, num: number, origin: string): ArchivedChat | null {
  const row = db.prepare<[number], ChatRow>(CHAT).get(num)
  if (row === undefined) return null
  return {
    format: FORMAT,
    version: FORMAT_VERSION,
    id: row.id,
    title: row.title,
    origin,
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

interface MessageRow {
  readonly id: string
  readonly alias: string | null
  readonly position: number | null
  readonly role: string
  readonly sentAtMs: number | null
  readonly startedAtMs: number | null
  readonly timingAtMs: number | null
  readonly model: string | null
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  readonly isSimulated: number
  readonly isOrphan: number
  readonly deletedAtMs: number | null
  readonly source: string
  readonly octets: number
  readonly parts: string
}

/** Copies of what the thread holds are left out: nothing is in them that is not in it. */
const MESSAGES = `
  select
    m.id, m.alias, m.position, m.role, m.sent_at as sentAtMs, m.started_at as startedAtMs, m.timing_at as timingAtMs,
    m.model, m.input_tokens as inputTokens, m.output_tokens as outputTokens, m.is_simulated as isSimulated,
    m.is_orphan as isOrphan, m.deleted_at as deletedAtMs, s.kind as source, m.octets, b.parts
  from messages m
  join bodies b on b.num = m.body
  join sources s on s.num = m.source
  where m.chat = ? and m.is_orphan <> 2
  order by m.is_orphan, m.position, m.created_at, m.id
`

/** The messages of a chat, the thread first. The caller's transaction must outlive the iteration. */
export function* readArchivedMessages(db: Mirror, num: number): Generator<ArchivedMessage> {
  for (const row of db.prepare<[number], MessageRow>(MESSAGES).iterate(num)) {
    yield {
      id: row.id,
      alias: row.alias,
      position: row.isOrphan === 1 ? null : row.position,
      role: row.role as ArchivedMessage['role'],
      sentAt: toIso(row.sentAtMs),
      startedAt: toIso(row.startedAtMs),
      timingAt: toIso(row.timingAtMs),
      model: row.model,
      tokens:
        row.inputTokens === null || row.outputTokens === null
          ? null
          : { input: row.inputTokens, output: row.outputTokens },
      isSimulated: row.isSimulated === 1,
      isOrphan: row.isOrphan === 1,
      deletedAt: toIso(row.deletedAtMs),
      source: row.source,
      octets: row.octets,
      parts: JSON.parse(row.parts) as Part[] as ArchivedMessage['parts'],
    }
  }
}
