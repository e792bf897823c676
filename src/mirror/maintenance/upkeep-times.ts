import type { Mirror } from '../open.ts'

/** `bars-lost`: a mirror was made anew that no longer knows all that was purged. */
export type UpkeepTask = 'check-terms' | 'bars-lost'

const READ = `select done_at from upkeep where task = ?`
const NOTE = `
insert into upkeep (task, done_at) values (?, ?) on conflict (task) do update set done_at = excluded.done_at
`

/** When it was last done, epoch milliseconds; null before the first time. */
export const lastDone = (db: Mirror, task: UpkeepTask): number | null =>
  db.prepare<[string], number>(READ).pluck().get(task) ?? null

export function noteDone(db: Mirror, task: UpkeepTask, nowMs: number): void {
  db.prepare(NOTE).run(task, nowMs)
}
