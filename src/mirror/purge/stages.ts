import type { Mirror } from '../open.ts'
import { prepared } from '../sql.ts'
import { UserError } from '../../model/user-error.ts'
import { countBars } from './user-file.ts'

/** What is left to do for bars that this mirror, or its archives, may still break. */
export interface Unfinished {
  /** Remove rows from the mirror. */
  readonly rows: boolean
  /** Rewrite archives. */
  readonly archives: boolean
  /** Rewrite the mirror's file. Until then it may contain bytes of what was removed. */
  readonly bytes: boolean
}

const READ = `select bars from purge_stages where stage = ?`
const NOTE = `
insert into purge_stages (stage, bars) values (?, ?) on conflict do update set bars = max(bars, excluded.bars)
`
const BEGIN = `delete from purge_stages where stage <> 'known'`

const read = (db: Mirror, stage: string): number => prepared<number>(db, READ).pluck().get(stage) ?? 0

/** @param bars how many there are: see `countBars` */
export const readUnfinished = (db: Mirror, bars: number): Unfinished => ({
  rows: read(db, 'rows') < bars,
  archives: read(db, 'archives') < bars,
  bytes: read(db, 'bytes') < bars,
})

export const noteStage = (db: Mirror, stage: keyof Unfinished): void => noteBars(db, stage, countBars(db))

/** Notes how many bars there are, so that it is noticed if some are missing later. */
export const noteKnown = (db: Mirror, bars: number): void => noteBars(db, 'known', bars)

const noteBars = (db: Mirror, stage: string, bars: number): void => void prepared(db, NOTE).run(stage, bars)

/** A purge begins: all stages are to be done, also if its bars were known before. */
export function beginStages(db: Mirror): void {
  prepared(db, BEGIN).run()
  noteKnown(db, countBars(db))
}

/** How many bars are missing that the mirror or an archive knew. @param bars how many there are */
export const countLost = (db: Mirror, bars: number): number => Math.max(0, read(db, 'known') - bars)

/** @throws UserError `bars-lost` if what was purged could come in again */
export function requireBars(db: Mirror): void {
  const lost = countLost(db, countBars(db))
  if (lost === 0) return
  throw new UserError(
    'bars-lost',
    `${lost} bars that keep purged chats out are missing in user.db, so nothing is read from Cursor.`,
    'Put user.db of the data folder back and start again. Or go on without them: cursordex purge --accept-lost-bars',
  )
}

const ACCEPT = `update user.lost set bars = bars + ?`

/** Goes on without the bars that are missing. */
export const acceptLost = (db: Mirror): void => void prepared(db, ACCEPT).run(countLost(db, countBars(db)))

/** A query ends within this time. */
const WAIT_MS = 2000

/**
 * Rewrites the whole file and empties the WAL, so that no page contains what was removed. Readers can read meanwhile.
 * The disk needs room for a second copy of the file.
 * @returns false if a reader uses the WAL: try again when it is closed
 * @throws SqliteError SQLITE_FULL if the disk is full; the rows are removed all the same
 */
export function compact(db: Mirror): boolean {
  // A copy of the file does not fit into memory.
  db.pragma('temp_store = default')
  db.exec('vacuum main')
  if (!emptyLog(db)) return false
  noteStage(db, 'bytes')
  return true
}

/** Empties the WAL. @returns false if a reader uses it */
export function emptyLog(db: Mirror): boolean {
  const before = Number(db.pragma('busy_timeout', { simple: true }))
  db.pragma(`busy_timeout = ${WAIT_MS}`)
  const [{ busy } = { busy: 1 }] = db.pragma('main.wal_checkpoint(truncate)') as { readonly busy: number }[]
  db.pragma(`busy_timeout = ${before}`)
  return busy === 0
}
