import type { Mirror } from '../open.ts'

/**
 * Writes the whole file anew, so that no page holds what was removed before it was overwritten, and empties the WAL.
 * Readers go on reading meanwhile, and take another copy of the file's size on the disk.
 * @returns false where a reader keeps the WAL from being emptied: to be tried again once it is shut
 * @throws SqliteError SQLITE_FULL where there is no room; the rows are gone all the same
 */
export function compact(db: Mirror): boolean {
  // A copy of the file does not belong into memory.
  db.pragma('temp_store = default')
  db.exec('vacuum')
  return emptyWal(db)
}

/** A question is answered by then; whoever reads for longer is asked to stop. */
const WAIT_MS = 2000

/** @returns whether it is empty now */
function emptyWal(db: Mirror): boolean {
  const before = Number(db.pragma('busy_timeout', { simple: true }))
  db.pragma(`busy_timeout = ${WAIT_MS}`)
  try {
    const [{ busy } = { busy: 1 }] = db.pragma('wal_checkpoint(truncate)') as { readonly busy: number }[]
    return busy === 0
  } finally {
    db.pragma(`busy_timeout = ${before}`)
  }
}
