import type { Mirror } from '../open.ts'
import { prepared } from '../sql.ts'
import { UserError } from '../../model/user-error.ts'
import { countBars } from './user-file.ts'

/**
 * What was done for how many bars. known: noticed if some are missing later. rows: removed from the mirror. bytes: archives
 * and the mirror's file were written again, so no file of ours contains any.
 */
type Stage = 'known' | 'rows' | 'bytes'

const READ = `select bars from purge_stages where stage = ?`
const NOTE = `
insert into purge_stages (stage, bars) values (?, ?) on conflict do update set bars = max(bars, excluded.bars)
`

const read = (db: Mirror, stage: Stage): number => prepared<number>(db, READ).pluck().get(stage) ?? 0

/** @param bars how many there are: see `countBars` */
export const isDone = (db: Mirror, stage: Stage, bars = countBars(db)): boolean => read(db, stage) >= bars

export const noteStage = (db: Mirror, stage: Stage, bars = countBars(db)): void =>
  void prepared(db, NOTE).run(stage, bars)

/** How many bars are missing that the mirror or an archive knew. */
export const countLost = (db: Mirror, bars = countBars(db)): number => Math.max(0, read(db, 'known') - bars)

/** @throws UserError `bars-lost` if what was purged could come in again */
export function requireBars(db: Mirror): void {
  const lost = countLost(db)
  if (lost === 0) return
  throw new UserError(
    'bars-lost',
    `${lost} bars that keep purged chats out are missing in user.db, so nothing is read from Cursor.`,
    'Put user.db of the data folder back and start again. Or go on without them: cursordex purge --accept-lost-bars',
  )
}

const ACCEPT = `update user.lost set bars = bars + ?`

/** Goes on without the bars that are missing. */
export const acceptLost = (db: Mirror): void => void prepared(db, ACCEPT).run(countLost(db))

/**
 * Rewrites the whole file and empties the WAL, so that no page contains what was removed. Readers can read meanwhile.
 * The disk needs room for a second copy of the file.
 * @returns false if a reader uses the WAL
 * @throws SqliteError SQLITE_FULL if the disk is full; the rows are removed all the same
 */
export function compact(db: Mirror): boolean {
  // A copy of the file does not fit into memory.
  db.pragma('temp_store = default')
  db.exec('vacuum main')
  return emptyLog(db)
}

/** Empties the WAL. It waits for readers, as long as the connection waits for locks. @returns false if one goes on */
export function emptyLog(db: Mirror): boolean {
  const [{ busy } = { busy: 1 }] = db.pragma('main.wal_checkpoint(truncate)') as { readonly busy: number }[]
  return busy === 0
}
