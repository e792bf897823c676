import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'

/** How far the comparison of every value of a source has come. */
export interface Sweep {
  /** The file's state in which every value was found equal; null before. */
  readonly verifiedSignature: string | null
  /** The file's state when the comparison began; null while none is under way. */
  readonly signature: string | null
  /** Rows up to this rowid are compared. */
  readonly afterRowid: number
  /** Moved on by every pause, so that what lies between this and the end is time at work. */
  readonly startedAtMs: number
  /** When the last comparison, or the last slice of one under way, was made; null before. */
  readonly endedAtMs: number | null
}

const READ = `
select verified_signature as verifiedSignature, signature, after_rowid as afterRowid, started_at as startedAtMs,
  ended_at as endedAtMs
from sweeps where source = ?
`
const SAVE = `
insert into sweeps (source, verified_signature, signature, after_rowid, started_at, ended_at) values (?, ?, ?, ?, ?, ?)
on conflict (source) do update set verified_signature = excluded.verified_signature, signature = excluded.signature,
  after_rowid = excluded.after_rowid, started_at = excluded.started_at, ended_at = excluded.ended_at
`

const unswept: Sweep = { verifiedSignature: null, signature: null, afterRowid: 0, startedAtMs: 0, endedAtMs: null }

export const readSweep = (db: Mirror, source: number): Sweep => prepared<Sweep>(db, READ).get(source) ?? unswept

export function saveSweep(db: Mirror, source: number, sweep: Sweep): void {
  const { verifiedSignature, signature, afterRowid, startedAtMs, endedAtMs } = sweep
  prepared(db, SAVE).run(source, verifiedSignature, signature, afterRowid, startedAtMs, endedAtMs)
}
