import type { ChatId } from '../../model/ids.ts'
import type { Batch, Position } from './batch.ts'
import type { Mirror } from '../open.ts'
import { RowInsert } from '../insert-rows.ts'
import { prepared } from '../prepared.ts'

const upsertRows = new RowInsert(
  'source_rows (source, key, source_rowid, octets, checksum, is_live)',
  '(?, ?, ?, ?, ?, 1)',
  `on conflict (source, key) do update set
    source_rowid = excluded.source_rowid, octets = excluded.octets, checksum = excluded.checksum, is_live = 1,
    missed_at = null`,
)
const MARK_GONE = `update source_rows set is_live = 0, missed_at = null where source = ? and key = ?`
const DROP_ROW = `delete from source_rows where source = ? and key = ?`
const HAS_ISSUES = `select 1 from row_issues where source = ? limit 1`
const CLEAR_ISSUE = `delete from row_issues where source = ? and key = ?`
const NOTE_ISSUE = `
insert into row_issues (source, key, reason, octets, noted_at) values (?, ?, ?, ?, ?)
on conflict (source, key) do update set reason = excluded.reason, octets = excluded.octets
`
/** Makes the row count as changed once it can be read again. */
const FORGET_CHECKSUM = `update source_rows set checksum = null where source = ? and key = ?`

export function writeRows(db: Mirror, batch: Batch): void {
  // Few sources have any issue: one check saves a statement per row.
  const hasIssues = prepared(db, HAS_ISSUES).get(batch.source) !== undefined
  const clear = prepared(db, CLEAR_ISSUE)
  for (const row of batch.rows) {
    if (row.chatIds !== undefined) writeRowChats(db, batch.source, row.key, row.chatIds)
    if (hasIssues) clear.run(batch.source, row.key)
  }
  upsertRows.run(
    db,
    batch.rows.map(({ key, rowid, octets, checksum }) => [batch.source, key, rowid, octets, checksum]),
  )
  for (const key of batch.goneKeys) {
    prepared(db, MARK_GONE).run(batch.source, key)
    if (hasIssues) clear.run(batch.source, key)
  }
  for (const key of batch.droppedKeys) {
    prepared(db, DROP_ROW).run(batch.source, key)
    clear.run(batch.source, key)
  }
  for (const issue of batch.issues) {
    prepared(db, NOTE_ISSUE).run(batch.source, issue.key, issue.reason, issue.octets, batch.nowMs)
    if (issue.reason === 'unreadable-page') prepared(db, FORGET_CHECKSUM).run(batch.source, issue.key)
  }
}

const DROP_ROW_CHATS = `delete from row_chats where source = ? and key = ?`
const ADD_ROW_CHAT = `insert into row_chats (source, key, chat_id) values (?, ?, ?) on conflict do nothing`
const LIST_ROW_CHATS = `select chat_id as id from row_chats where source = ? and key = ?`

function writeRowChats(db: Mirror, source: number, key: string, chatIds: readonly ChatId[]): void {
  prepared(db, DROP_ROW_CHATS).run(source, key)
  for (const id of chatIds) prepared(db, ADD_ROW_CHAT).run(source, key, id)
}

/** The chats that a row contained when it was last read. */
export const listRowChats = (db: Mirror, source: number, key: string): ChatId[] =>
  prepared<{ id: ChatId }>(db, LIST_ROW_CHATS)
    .all(source, key)
    .map(({ id }) => id)

const WRITE_POSITION = `
update sources
set identity = ?, signature = ?, watermark = ?, watermark_key = ?
where num = ?
`

export function writePosition(db: Mirror, source: number, position: Position): void {
  prepared(db, WRITE_POSITION).run(
    position.identity,
    position.signature,
    position.watermark,
    position.watermarkKey,
    source,
  )
}
