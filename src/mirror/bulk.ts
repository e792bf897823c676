import { CACHE_KB, type Mirror } from './open.ts'
import { prepared } from './sql.ts'

/**
 * Runs a long write whose rows can all be read from their source again. Commits are not synced to the disk one by one.
 * Checkpoints are rarer and the page cache is larger, because many pages are written repeatedly. A power cut may lose the
 * last commits but keeps their order. The next commit with `synchronous = full` makes all of them durable.
 */
export async function inBulk<End>(db: Mirror, write: () => Promise<End>): Promise<End> {
  db.pragma('synchronous = normal')
  db.pragma('wal_autocheckpoint = 4000')
  db.pragma('cache_size = -24000')
  try {
    return await write()
  } finally {
    // The mirror may be closed already if the program ends in the middle.
    if (db.open) {
      db.pragma('wal_autocheckpoint = 1000')
      db.pragma(`cache_size = -${CACHE_KB}`)
      db.pragma('synchronous = full')
    }
  }
}

/** Frees the page cache that bulk writing filled. */
export function shrinkMemory(db: Mirror): void {
  db.pragma('shrink_memory')
}

const SYNCHRONOUS_FULL = 2
const TOUCH = `update sources set num = num where num = ?`

/**
 * Makes all former commits durable, also during bulk writing: the data just written may exist nowhere else any more. One
 * commit with `synchronous = full` syncs all earlier ones.
 */
export function sealCommits(db: Mirror, source: number): void {
  if (Number(db.pragma('synchronous', { simple: true })) >= SYNCHRONOUS_FULL) return
  db.pragma('synchronous = full')
  try {
    prepared(db, TOUCH).run(source)
  } finally {
    db.pragma('synchronous = normal')
  }
}
