import { createTask } from 'node-cron'
import * as z from 'zod/mini'

/** Something to do again and again, on a schedule. */
export interface DueJob {
  readonly name: string
  /** A cron expression. The settings refuse one that never comes. */
  readonly schedule: string
  /** An IANA name. Null: the machine's. */
  readonly timezone: string | null
  /** The pause after a first failure. Each further one doubles it, to six hours at most. */
  readonly firstPauseMs: number
  /** @throws Error why it failed. It is tried again after a pause */
  run(timeZone: string): Promise<void>
}

export const jobNote = z.object({
  schedule: z.string(),
  timeZone: z.string(),
  /** When the job runs next, also if that repeats a failed run. Epoch milliseconds. */
  dueAtMs: z.number(),
  /** How many runs failed in a row since the last success. */
  failures: z.number(),
  error: z.nullable(z.string()),
})
export type JobNote = z.infer<typeof jobNote>

const PAUSE_MAX_MS = 6 * 3_600_000

interface Clock {
  now(): number
  /** The machine's time zone. */
  zone(): string
}

/**
 * Runs jobs when they are due. What was missed while the machine slept or the daemon was off is made up once. A failed job
 * is repeated after growing pauses.
 * @param notes of the jobs, by name
 * @param save is called after one of them changed
 * @returns tick: must be called every minute. listNotes: how each job stands
 */
export function dueJobs(jobs: readonly DueJob[], notes: Record<string, JobNote>, clock: Clock, save = (): void => {}) {
  const running = new Set<string>()

  const nextOf = ({ schedule, timezone }: DueJob): JobNote => {
    const timeZone = timezone ?? clock.zone()
    const task = createTask(schedule, () => undefined, { timezone: timeZone })
    const [next] = task.getNextRuns(1)
    void task.destroy()
    return { schedule, timeZone, dueAtMs: next?.getTime() ?? Infinity, failures: 0, error: null }
  }
  /**
   * When the job is due. What was noted holds only for its schedule and time zone, and not if the job is due before: a
   * clock that was ahead computed that time, and was corrected since.
   */
  const noteOf = (job: DueJob): JobNote => {
    const next = nextOf(job)
    const note = notes[job.name]
    const isSame = note?.schedule === next.schedule && note.timeZone === next.timeZone
    const latestMs = Math.max(next.dueAtMs, clock.now() + PAUSE_MAX_MS)
    return isSame && note.dueAtMs <= latestMs ? note : next
  }
  const put = ({ name }: DueJob, note: JobNote): void => {
    if (notes[name] === note) return
    notes[name] = note
    save()
  }
  const run = async (job: DueJob, failures: number): Promise<void> => {
    const next = nextOf(job)
    running.add(job.name)
    try {
      await job.run(next.timeZone)
      put(job, next)
    } catch (error) {
      const dueAtMs = clock.now() + Math.min(job.firstPauseMs * 2 ** failures, PAUSE_MAX_MS)
      const why = error instanceof Error ? error.message : String(error)
      put(job, { ...next, dueAtMs, failures: failures + 1, error: why })
    } finally {
      running.delete(job.name)
    }
  }
  return {
    tick(): void {
      for (const job of jobs) {
        if (running.has(job.name)) continue
        const note = noteOf(job)
        put(job, note)
        if (clock.now() >= note.dueAtMs) void run(job, note.failures)
      }
    },
    listNotes: () => jobs.map((job) => ({ job: job.name, ...noteOf(job) })),
  }
}
