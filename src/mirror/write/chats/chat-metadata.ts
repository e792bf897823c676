import type { ChatId } from '../../../model/ids.ts'
import type { Batch, ChatFacts, ChatMetadata } from '../batch.ts'
import type { Mirror } from '../../open.ts'
import type { OwnRowState } from '../../threads/outlines.ts'
import { prepared } from '../../prepared.ts'
import { ARCHIVE, type SourceRanks } from '../../sources/source-ranks.ts'

/** The list name under which the metadata of the chat's own row is stored. */
const OWN_ROW = ''

export function ownRowMetadata(chatId: ChatId, facts: ChatFacts): ChatMetadata {
  const { name, createdAtMs, updatedAtMs, mode, isArchived, isDraft, isSubagent, parentChatId } = facts
  const { linesAdded, linesRemoved, filesChanged, branch = null } = facts
  const flags = { isArchived, isDraft, isSubagent, parentChatId }
  const changes = { linesAdded, linesRemoved, filesChanged, branch }
  return { chatId, list: OWN_ROW, name, createdAtMs, updatedAtMs, mode, ...flags, ...changes }
}

const COLUMNS = [
  'name',
  'created_at',
  'updated_at',
  'mode',
  'branch',
  'is_archived',
  'is_draft',
  'is_subagent',
  'parent_chat_id',
  'lines_added',
  'lines_removed',
  'files_changed',
] as const

const SAVE_METADATA = `
insert into heads (chat_id, source, list, ${COLUMNS.join(', ')}) values (?, ?, ?${', ?'.repeat(COLUMNS.length)})
on conflict (chat_id, source, list) do update set ${COLUMNS.map((name) => `${name} = excluded.${name}`).join(', ')}
where ${COLUMNS.map((name) => `${name} is not excluded.${name}`).join(' or ')}
`

/** @returns whether anything changed */
export function saveMetadata(db: Mirror, source: number, head: ChatMetadata): boolean {
  const values = [head.name, head.createdAtMs, head.updatedAtMs, head.mode, head.branch]
  const flags = [head.isArchived, head.isDraft, head.isSubagent].map((flag) => (flag === null ? null : Number(flag)))
  const rest = [head.parentChatId, head.linesAdded, head.linesRemoved, head.filesChanged]
  const { changes } = prepared(db, SAVE_METADATA).run(head.chatId, source, head.list, ...values, ...flags, ...rest)
  return changes > 0
}

/** @returns the chats whose metadata changed */
export function writeChatMetadata(db: Mirror, batch: Batch): ChatId[] {
  return batch.heads.filter((head) => saveMetadata(db, batch.source, head)).map((head) => head.chatId)
}

const FORGET_OWN_ROW = `delete from heads where chat_id = ? and source = ? and list = '${OWN_ROW}'`

/**
 * Metadata of the chat's own row stays when the row is gone. It is deleted once another store of the same rank has the
 * chat's row, because the chat then lives on there, for example in another profile.
 */
export function forgetMoved(
  db: Mirror,
  chatId: ChatId,
  ownRows: ReadonlyMap<number, OwnRowState>,
  ranks: SourceRanks,
): void {
  const liveRanks = new Set([...ownRows].flatMap(([source, state]) => (state === 'live' ? ranks.of(source) : [])))
  for (const [source, state] of ownRows) {
    if (state === 'gone' && liveRanks.has(ranks.of(source))) prepared(db, FORGET_OWN_ROW).run(chatId, source)
  }
}

/** The merged metadata of a chat from all lists, as columns of `chats`. */
export interface MergedMetadata {
  readonly name: string | null
  readonly cursor_created_at: number | null
  readonly cursor_updated_at: number | null
  readonly mode: string | null
  readonly branch: string | null
  readonly is_archived: number
  readonly is_draft: number
  readonly is_subagent: number
  readonly parent_chat_id: ChatId | null
  readonly lines_added: number | null
  readonly lines_removed: number | null
  readonly files_changed: number | null
}

/** Builds with this list no longer update the older lists. Archiving a chat does not change its update time. */
const NEWEST_LIST = 'header-table'

/**
 * The chat's own row first, that of the best source before others. Then the lists, the latest update first; of two with
 * the same time, the list that is still updated.
 */
const LIST_METADATA = `
select list, kind, ${COLUMNS.map((name) => `heads.${name}`).join(', ')}
from heads cross join sources on sources.num = heads.source
where chat_id = ?
order by list = '' desc, case list when '' then rank end, updated_at desc nulls last, list = '${NEWEST_LIST}' desc, list, num
`

interface MetadataRow {
  readonly list: string
  readonly kind: string
  readonly name: string | null
  readonly created_at: number | null
  readonly updated_at: number | null
  readonly mode: string | null
  readonly branch: string | null
  readonly is_archived: number | null
  readonly is_draft: number | null
  readonly is_subagent: number | null
  readonly parent_chat_id: ChatId | null
  readonly lines_added: number | null
  readonly lines_removed: number | null
  readonly files_changed: number | null
}

export function mergeMetadata(db: Mirror, chatId: ChatId): MergedMetadata {
  const all = prepared<MetadataRow>(db, LIST_METADATA).all(chatId)
  // An archive's metadata of the chat's own row counts only if no store ever had that row.
  const hasStoreRow = all.some(({ list, kind }) => list === OWN_ROW && kind !== ARCHIVE)
  const heads = hasStoreRow ? all.filter(({ kind }) => kind !== ARCHIVE) : all
  const first = <Key extends keyof MetadataRow>(key: Key): MetadataRow[Key] | null =>
    heads.find((head) => head[key] !== null)?.[key] ?? null
  // A missing flag in the chat's own row does not mean "not archived". Otherwise the latest entry decides.
  const archival = heads.filter(({ list, is_archived }) =>
    list === OWN_ROW ? is_archived === 1 : is_archived !== null,
  )
  const [newest] = archival.toSorted((a, b) => (b.updated_at ?? 0) - (a.updated_at ?? 0))
  const own = heads.find(({ list }) => list === OWN_ROW)
  const updates = heads.flatMap(({ updated_at }) => updated_at ?? [])
  return {
    name: first('name'),
    cursor_created_at: first('created_at'),
    cursor_updated_at: updates.length === 0 ? null : Math.max(...updates),
    mode: first('mode'),
    branch: first('branch'),
    is_archived: newest?.is_archived ?? 0,
    // Only the own row decides: an outdated list must not hide a chat.
    is_draft: own?.is_draft ?? 0,
    is_subagent: heads.some((head) => head.is_subagent === 1) ? 1 : 0,
    parent_chat_id: first('parent_chat_id'),
    lines_added: first('lines_added'),
    lines_removed: first('lines_removed'),
    files_changed: first('files_changed'),
  }
}
