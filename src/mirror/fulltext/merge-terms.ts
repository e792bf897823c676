import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'

/** From so many rows on, what was added at once is worth merging. */
const ROWS_MIN = 4000
/** Pages of 16 KB that a step works on: some 20 ms. */
const PAGES = 150

interface Loose {
  readonly rows: number
  readonly isBegun: boolean
}

/** Full-text rows in segments beside each other, each with its own list of words, as large transactions leave them. */
const loose = new WeakMap<Mirror, Loose>()

export function noteLooseRows(db: Mirror, rows: number): void {
  loose.set(db, { rows: rows + (loose.get(db)?.rows ?? 0), isBegun: false })
}

/** Whether merging them would make the tables smaller by a twentieth. Forgotten at the end, for it can wait. */
export const needsMerge = (db: Mirror): boolean => (loose.get(db)?.rows ?? 0) >= ROWS_MIN

const MERGE = `insert into message_terms (message_terms, rank) values ('merge', ?)`
const CHANGES = `select total_changes() as count`

/** Merges some more of the full-text rows, until all are in one segment. */
export function mergeSome(db: Mirror): void {
  const { rows, isBegun } = loose.get(db) ?? { rows: 0, isBegun: false }
  const count = (): number => prepared<{ count: number }>(db, CHANGES).get()?.count ?? 0
  const before = count()
  // A negative number has all segments merged, and not only those of one size.
  prepared(db, MERGE).run(BigInt(isBegun ? PAGES : -PAGES))
  // The statement is itself one change; see "The 'merge' Command" in the manual of FTS5.
  if (count() - before < 2) loose.delete(db)
  else loose.set(db, { rows, isBegun: true })
}
