import type { SourceId } from '../../model/ids.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { ARCHIVE } from './source-ranks.ts'

const LIST_UNREAD = `
select num, id from sources
where state = 'missing' and last_sync_at is null and kind not in ('', '${ARCHIVE}')
  and not exists (select 1 from source_rows where source = num)
`
const LIST_TOLD = `select num, id, path from sources where state <> 'missing' and kind not in ('', '${ARCHIVE}')`
const MISS = `update sources set state = 'missing', detail = null where num = ?`
const FORGET = `delete from sources where num = ?`

/**
 * Forgets the sources that were never there and are not looked for any more, as those of a folder that was once
 * misspelt: they would be told as missing for ever.
 * @param looked what is looked for now
 */
export function forgetUnread(db: Mirror, looked: ReadonlySet<SourceId>): void {
  for (const { num, id } of prepared<{ num: number; id: SourceId }>(db, LIST_UNREAD).all()) {
    if (!looked.has(id)) forget(db, num)
  }
}

/**
 * Tells the sources as missing that are found no more because they are not there: a workspace or a folder of transcripts
 * that was deleted is not looked for, and would be told as it was when it was last read. What it held stays.
 * @param looked what is looked for now
 * @param isGone whether nothing lies at this path any more
 */
export function missVanished(db: Mirror, looked: ReadonlySet<SourceId>, isGone: (path: string) => boolean): void {
  for (const { num, id, path } of prepared<{ num: number; id: SourceId; path: string }>(db, LIST_TOLD).all()) {
    if (!looked.has(id) && isGone(path)) prepared(db, MISS).run(num)
  }
}

function forget(db: Mirror, num: number): void {
  try {
    prepared(db, FORGET).run(num)
  } catch (error) {
    // Something is known of it after all.
    if (error instanceof Error && 'code' in error && error.code === 'SQLITE_CONSTRAINT_FOREIGNKEY') return
    throw error
  }
}
