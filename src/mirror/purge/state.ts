import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'

/** What purges that were begun have yet to do. */
export interface Unfinished {
  /** Remove rows from the mirror. */
  readonly rows: boolean
  /** Rewrite archives. */
  readonly archives: boolean
  /** Rewrite the mirror's file. Until then it may contain bytes of what was removed. */
  readonly bytes: boolean
}

const READ = `
select
  coalesce(max(removed_at is null), 0) as rows,
  coalesce(max(archives_at is null), 0) as archives,
  coalesce(max(compacted_at is null), 0) as bytes
from purges
`

export function readUnfinished(db: Mirror): Unfinished {
  const row = prepared<{ rows: number; archives: number; bytes: number }>(db, READ).get()
  return { rows: row?.rows === 1, archives: row?.archives === 1, bytes: row?.bytes === 1 }
}

const STAGES = {
  rows: `update purges set removed_at = ? where removed_at is null`,
  archives: `update purges set archives_at = ? where archives_at is null`,
  bytes: `update purges set compacted_at = ? where compacted_at is null`,
} as const

export function noteStage(db: Mirror, stage: keyof typeof STAGES, nowMs: number): void {
  prepared(db, STAGES[stage]).run(nowMs)
}

/** A query ends within this time. */
const WAIT_MS = 2000

/** @returns what `compact` returns; true if there was nothing to do @throws SqliteError SQLITE_FULL */
export function endCompaction(db: Mirror, nowMs: number): boolean {
  if (!readUnfinished(db).bytes) return true
  if (!compact(db)) return false
  noteStage(db, 'bytes', nowMs)
  return true
}

/**
 * Rewrites the whole file and empties the WAL, so that no page contains what was removed. Readers can read meanwhile.
 * The disk needs room for a second copy of the file.
 * @returns false if a reader uses the WAL: try again when it is closed
 * @throws SqliteError SQLITE_FULL if the disk is full; the rows are removed all the same
 */
export function compact(db: Mirror): boolean {
  // A copy of the file does not fit into memory.
  db.pragma('temp_store = default')
  db.exec('vacuum')
  return emptyLog(db)
}

/** Empties the WAL. @returns false if a reader uses it */
export function emptyLog(db: Mirror): boolean {
  const before = Number(db.pragma('busy_timeout', { simple: true }))
  db.pragma(`busy_timeout = ${WAIT_MS}`)
  const [{ busy } = { busy: 1 }] = db.pragma('wal_checkpoint(truncate)') as { readonly busy: number }[]
  db.pragma(`busy_timeout = ${before}`)
  return busy === 0
}
