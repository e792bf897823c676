import { createTask } from 'node-cron'
import type { ArchiveHealth } from '../../api/http/schemas/archives.ts'
import { toIso } from '../../api/iso.ts'
import { UserError } from '../../model/user-error.ts'
import type { Settings } from '../../settings.ts'
import type { JobNote } from './archive-notes.ts'
import type { Archives } from './archives.ts'

type ArchiveJob = Settings['archives']['jobs'][number]

/** The wait after the first failure. Each further failure doubles it. */
const RETRY_MS = 5 * 60_000
const RETRY_MAX_MS = 6 * 3_600_000

const idle = { failures: 0, retryAtMs: null, error: null }

export interface ScheduleContext {
  now(): number
  readonly archives: Pick<Archives, 'begin' | 'list' | 'notes' | 'running' | 'atWork'>
  /** The machine's time zone, for jobs without one. */
  zone(): string
}

/**
 * Runs the archive jobs when they are due. Runs that were missed while the machine slept or the daemon was off are made
 * up once. A failed run is repeated after growing waits, at the latest when the job is due again.
 */
export class ArchiveSchedule {
  readonly #context: ScheduleContext
  readonly #jobs: readonly ArchiveJob[]
  readonly #running = new Set<string>()

  constructor(jobs: readonly ArchiveJob[], context: ScheduleContext) {
    this.#context = context
    this.#jobs = jobs
  }

  /** Must be called every minute. */
  tick(): void {
    const { notes } = this.#context.archives
    for (const job of this.#jobs) {
      if (this.#running.has(job.name)) continue
      const note = this.#noteOf(job)
      if (note === null) continue
      if (notes.job(job.name) !== note) notes.noteJob(job.name, note)
      if (this.#context.now() >= Math.min(note.dueAtMs, note.retryAtMs ?? Infinity)) void this.#run(job, note)
    }
  }

  get health(): ArchiveHealth {
    const { notes, running, atWork } = this.#context.archives
    const made = [...notes.runs.values()].flatMap((run) => (run.state === 'failed' ? [] : [run.createdAtMs]))
    const jobs = this.#jobs.flatMap((job) => {
      const note = this.#noteOf(job)
      return note === null ? [] : [{ name: job.name, ...note }]
    })
    return {
      running,
      atWork,
      lastRunAt: made.length === 0 ? null : toIso(Math.max(...made)),
      nextRunAt: jobs.length === 0 ? null : toIso(Math.min(...jobs.map(({ dueAtMs }) => dueAtMs))),
      failed: jobs.flatMap(({ name, failures, error, retryAtMs }) =>
        failures === 0 ? [] : [{ job: name, error: error ?? '', failures, retryAt: toIso(retryAtMs) }],
      ),
    }
  }

  /**
   * When the job is due. The note that was written holds only for its schedule and time zone, and not if the job is due
   * before: a clock that was ahead computed that time, and was corrected since. Otherwise a run counts as missed if the
   * last one is older than one interval. Null: never due.
   */
  #noteOf(job: ArchiveJob): JobNote | null {
    const [nextMs, afterMs = Infinity] = this.#nextDues(job)
    if (nextMs === undefined) return null
    const { schedule, name } = job
    const timeZone = this.#zoneOf(job)
    const note = this.#context.archives.notes.job(name)
    if (note?.schedule === schedule && note.timeZone === timeZone && note.dueAtMs <= nextMs) return note
    const lastMs = this.#lastRunOf(name)
    const isMissed = lastMs !== null && lastMs < nextMs - (afterMs - nextMs)
    return { schedule, timeZone, dueAtMs: isMissed ? this.#context.now() : nextMs, ...idle }
  }

  /** When the last successful run began, in epoch milliseconds. Null if none is known. */
  #lastRunOf(name: string): number | null {
    try {
      const last = this.#context.archives.list().find((run) => run.job === name && run.state !== 'failed')
      return last === undefined ? null : Date.parse(last.createdAt ?? '')
    } catch (error) {
      // An unreadable folder is reported by the run itself.
      if (error instanceof UserError) return null
      throw error
    }
  }

  async #run(job: ArchiveJob, { failures, dueAtMs: wasDueAtMs }: JobNote): Promise<void> {
    const { name, keep, scope, schedule } = job
    const { archives } = this.#context
    const timeZone = this.#zoneOf(job)
    const [dueAtMs = wasDueAtMs] = this.#nextDues(job)
    const next = { schedule, timeZone, dueAtMs }
    const retryAtMs = (): number => this.#context.now() + Math.min(RETRY_MS * 2 ** failures, RETRY_MAX_MS)
    this.#running.add(name)
    // If the process is killed during the run, the run is repeated.
    archives.notes.noteJob(name, { ...next, failures, retryAtMs: retryAtMs(), error: null })
    try {
      await archives.begin(scope, { job: name, keep, timeZone }, timeZone).made
      archives.notes.noteJob(name, { ...next, ...idle })
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      archives.notes.noteJob(name, { ...next, failures: failures + 1, retryAtMs: retryAtMs(), error: why })
    } finally {
      this.#running.delete(name)
    }
  }

  /** The next two times after now. The settings refuse a schedule that never comes. */
  #nextDues(job: ArchiveJob): readonly number[] {
    const task = createTask(job.schedule, () => undefined, { timezone: this.#zoneOf(job) })
    const dues = task.getNextRuns(2).map((date) => date.getTime())
    void task.destroy()
    return dues
  }

  #zoneOf(job: ArchiveJob): string {
    return job.timezone ?? this.#context.zone()
  }
}
