import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'

/**
 * Runs a long piece of writing whose every row can be had again from where it came: commits need not reach the disk one
 * by one, and pages written many times over go home from the WAL less often. A power cut may cost some of the last
 * commits, never the order of them; what follows with `synchronous = full` makes all of them durable.
 */
export function* inBulk<Step, End>(db: Mirror, write: () => Generator<Step, End>): Generator<Step, End> {
  db.pragma('synchronous = normal')
  db.pragma('wal_autocheckpoint = 4000')
  try {
    return yield* write()
  } finally {
    // The mirror is closed when the program ends in the middle.
    if (db.open) {
      db.pragma('wal_autocheckpoint = 1000')
      db.pragma('synchronous = full')
    }
  }
}

/** Gives back the pages that bulk writing left in memory. */
export function shrinkMemory(db: Mirror): void {
  db.pragma('shrink_memory')
}

const SYNCHRONOUS_FULL = 2
const TOUCH = `update sources set num = num where num = ?`

/**
 * What was just written may exist nowhere else any more: in the middle of bulk writing, too, it is on the disk before
 * anything follows. One commit that counts makes all those before it durable.
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
