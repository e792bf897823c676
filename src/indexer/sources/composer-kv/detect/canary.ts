import type Database from 'better-sqlite3'
import { findByKey, findByRowid } from '../read/read.ts'

/**
 * Whether the row at the watermark is the one that was read there, or was itself written again: then no rowid up to the
 * watermark was used twice, and all that was inserted since lies above.
 */
export function isCanaryWell(db: Database.Database, watermark: number, key: string | null): boolean {
  if (key === null) return true
  const there = findByRowid(db, watermark)
  if (there !== undefined) return there.key === key
  const now = findByKey(db, key)
  return now !== undefined && now.rowid > watermark
}
