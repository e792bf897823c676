import type { SourceId } from '../../model/ids.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { ARCHIVE, HUB } from './source-ranks.ts'

const LIST_UNREAD = `
select num, id from sources
where state <> 'ok' and last_sync_at is null and kind not in ('', '${ARCHIVE}', '${HUB}')
  and not exists (select 1 from source_rows where source = num)
`
const LIST_PRESENT = `select num, id, path from sources where state <> 'missing' and kind not in ('', '${ARCHIVE}', '${HUB}')`
const MISS = `update sources set state = 'missing', detail = null where num = ?`
const FORGET = `delete from sources where num = ?`

/**
 * Deletes sources that were never read and are not looked for any more, for example those of a misspelled folder, or of
 * a folder that may be listed again. Otherwise they would be reported as missing or unreadable forever.
 * @param current the sources that are looked for now
 */
export function forgetUnread(db: Mirror, current: ReadonlySet<SourceId>): void {
  for (const { num, id } of prepared<{ num: number; id: SourceId }>(db, LIST_UNREAD).all()) {
    if (!current.has(id)) forget(db, num)
  }
}

/**
 * Marks sources as missing if their file or folder was deleted. A deleted workspace or transcript folder is no longer
 * looked for, so its state would stay as it was at the last pass. Its content stays in the mirror.
 * @param current the sources that are looked for now
 * @param isGone whether nothing exists at this path any more
 */
export function missVanished(db: Mirror, current: ReadonlySet<SourceId>, isGone: (path: string) => boolean): void {
  for (const { num, id, path } of prepared<{ num: number; id: SourceId; path: string }>(db, LIST_PRESENT).all()) {
    if (!current.has(id) && isGone(path)) prepared(db, MISS).run(num)
  }
}

function forget(db: Mirror, num: number): void {
  try {
    prepared(db, FORGET).run(num)
  } catch (error) {
    // Other rows refer to the source, so it was in use after all.
    if (error instanceof Error && 'code' in error && error.code === 'SQLITE_CONSTRAINT_FOREIGNKEY') return
    throw error
  }
}
