import type { Batch, Position } from './batch.ts'
import type { Mirror } from './open.ts'
import { prepared } from './prepared.ts'

const UPSERT_ROW = `
insert into source_rows (source, key, source_rowid, octets, checksum, is_live) values (?, ?, ?, ?, ?, 1)
on conflict (source, key) do update set
  source_rowid = excluded.source_rowid, octets = excluded.octets, checksum = excluded.checksum, is_live = 1
`
const MARK_GONE = `update source_rows set is_live = 0 where source = ? and key = ?`
const CLEAR_ISSUE = `delete from row_issues where source = ? and key = ?`
const NOTE_ISSUE = `
insert into row_issues (source, key, reason, octets, noted_at) values (?, ?, ?, ?, ?)
on conflict (source, key) do update set reason = excluded.reason, octets = excluded.octets
`

export function writeRows(db: Mirror, batch: Batch): void {
  const upsert = prepared(db, UPSERT_ROW)
  const clear = prepared(db, CLEAR_ISSUE)
  for (const row of batch.rows) {
    upsert.run(batch.source, row.key, row.rowid, row.octets, row.checksum)
    clear.run(batch.source, row.key)
  }
  for (const key of batch.goneKeys) {
    prepared(db, MARK_GONE).run(batch.source, key)
    clear.run(batch.source, key)
  }
  for (const issue of batch.issues) {
    prepared(db, NOTE_ISSUE).run(batch.source, issue.key, issue.reason, issue.octets, batch.nowMs)
  }
}

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
