import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'

/** What a purge that was begun has yet to do. */
export interface Unfinished {
  /** Rows are to be removed from the mirror. */
  readonly rows: boolean
  /** Archives are to be rewritten. */
  readonly archives: boolean
  /** The mirror's file is to be written anew: until then bytes of what is gone may be left in it. */
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

export type PurgeStage = keyof typeof STAGES

export function noteStage(db: Mirror, stage: PurgeStage, nowMs: number): void {
  prepared(db, STAGES[stage]).run(nowMs)
}
