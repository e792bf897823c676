import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'

/** Progress of a sweep: the comparison of every value of a source. */
export interface Sweep {
  /** State of the file when the last sweep that found every value equal began; null before the first such sweep. */
  readonly verifiedSignature: string | null
  /** State of the file when the current sweep began; null if none is running. */
  readonly signature: string | null
  /** Rows up to this rowid are already compared. */
  readonly afterRowid: number
  /** Epoch milliseconds. Every pause moves it forward, so the time from here to the end is working time only. */
  readonly startedAtMs: number
  /** Epoch milliseconds of the end of the last sweep, or of the current sweep's last slice; null before the first. */
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

const noSweep: Sweep = { verifiedSignature: null, signature: null, afterRowid: 0, startedAtMs: 0, endedAtMs: null }

export const readSweep = (db: Mirror, source: number): Sweep => prepared<Sweep>(db, READ).get(source) ?? noSweep

export function saveSweep(db: Mirror, source: number, sweep: Sweep): void {
  const { verifiedSignature, signature, afterRowid, startedAtMs, endedAtMs } = sweep
  prepared(db, SAVE).run(source, verifiedSignature, signature, afterRowid, startedAtMs, endedAtMs)
}
