import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'

/** In place of the rowid of a row that an older decoder read: it differs from every rowid, so the row is read again. */
export const OUTDATED_ROWID = -1

const READ_DECODER = `select decoder from sources where num = ?`
const OUTDATE_ROWS = `
update source_rows set source_rowid = ${OUTDATED_ROWID}, checksum = null where source = ? and is_live = 1
`
const SAVE_DECODER = `update sources set decoder = ?, signature = null, watermark = null, watermark_key = null where num = ?`
const DROP_SWEEP = `delete from sweeps where source = ?`

/**
 * Notes which version of a source's decoder reads it from now on. If another version read it before, all its rows count
 * as changed: passes read them again, however often they are cut short.
 * @returns whether the version changed
 */
export function noteDecoder(db: Mirror, source: number, version: number): boolean {
  if (prepared<{ decoder: number }>(db, READ_DECODER).get(source)?.decoder === version) return false
  db.transaction(() => {
    prepared(db, OUTDATE_ROWS).run(source)
    prepared(db, SAVE_DECODER).run(version, source)
    prepared(db, DROP_SWEEP).run(source)
  })()
  return true
}
