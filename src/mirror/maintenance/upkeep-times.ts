import type { Mirror } from '../open.ts'

/**
 * - `bars-lost`: a mirror was rebuilt that no longer knows all that was purged.
 * - `check` and a part: the pages of that part were checked.
 */
export type UpkeepTask = 'check-terms' | 'bars-lost' | `check ${string}`

const READ = `select done_at from upkeep where task = ?`
const NOTE = `
insert into upkeep (task, done_at) values (?, ?) on conflict (task) do update set done_at = excluded.done_at
`

/** When the task was last done, in epoch milliseconds; null if never. */
export const lastDone = (db: Mirror, task: UpkeepTask): number | null =>
  db.prepare<[string], number>(READ).pluck().get(task) ?? null

export function noteDone(db: Mirror, task: UpkeepTask, nowMs: number): void {
  db.prepare(NOTE).run(task, nowMs)
}
