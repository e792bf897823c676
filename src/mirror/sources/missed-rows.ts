import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { countHeldRows } from './source-state.ts'

const NOTE = `update source_rows set missed_at = ? where source = ? and key = ? and is_live = 1`

/** Marks rows that vanished together with too many others: it may be an accident. They still count as held for now. */
export function noteMissed(db: Mirror, source: number, keys: readonly string[], nowMs: number): void {
  setMissed(db, source, keys, nowMs)
}

/** Clears the mark of rows that are back. */
export function forgetMissed(db: Mirror, source: number, keys: readonly string[]): void {
  setMissed(db, source, keys, null)
}

function setMissed(db: Mirror, source: number, keys: readonly string[], atMs: number | null): void {
  if (keys.length === 0) return
  db.transaction(() => {
    for (const key of keys) prepared(db, NOTE).run(atMs, source, key)
  })()
}

/** Rows of a source that vanished at once. They do not count as deleted until a later pass confirms it. */
export interface MissedRows {
  readonly rows: number
  /** How many rows the source held, including the missed ones. */
  readonly of: number
  /** When the first of them was missed, in epoch milliseconds. */
  readonly sinceMs: number
}

const SUM_UP = `
select count(*) as rows, min(missed_at) as sinceMs from source_rows where source = ? and missed_at is not null
`

export const countMissed = (db: Mirror, source: number): number =>
  prepared<{ rows: number }>(db, SUM_UP).get(source)?.rows ?? 0

export function readMissed(db: Mirror, source: number): MissedRows | null {
  const sum = prepared<{ rows: number; sinceMs: number | null }>(db, SUM_UP).get(source)
  if (sum === undefined || sum.sinceMs === null) return null
  return { rows: sum.rows, of: countHeldRows(db, source), sinceMs: sum.sinceMs }
}
