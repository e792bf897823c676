import { createTask } from 'node-cron'
import type { ArchiveHealth } from '../../api/http/schemas/archives.ts'
import { toIso } from '../../api/iso.ts'
import { timeOfRun } from '../../archive/manifest.ts'
import { UserError } from '../../model/user-error.ts'
import type { Settings } from '../../settings.ts'
import type { JobNote } from './archive-notes.ts'
import type { Archives } from './archives.ts'

type ArchiveJob = Settings['archives']['jobs'][number]

/** The wait after the first failure. Each further failure doubles it. */
const RETRY_MS = 5 * 60_000
const RETRY_MAX_MS = 6 * 3_600_000

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
    for (const job of this.#jobs) {
      if (this.#running.has(job.name)) continue
      const note = this.#noteOf(job)
      if (note === null) continue
      this.#note(job, note)
      if (this.#context.now() >= note.dueAtMs) void this.#run(job, note)
    }
  }

  #note({ name }: ArchiveJob, note: JobNote): void {
    const { notes } = this.#context.archives
    if (notes.jobs.get(name) === note) return
    notes.jobs.set(name, note)
    notes.save()
  }

  get health(): ArchiveHealth {
    const { notes, running, atWork } = this.#context.archives
    const jobs = this.#jobs.flatMap((job) => {
      const note = this.#noteOf(job)
      return note === null ? [] : [{ name: job.name, ...note }]
    })
    const last = [...notes.runs.keys()].sort().at(-1)
    return {
      running,
      atWork,
      lastRunAt: last === undefined ? null : timeOfRun(last),
      nextRunAt: jobs.length === 0 ? null : toIso(Math.min(...jobs.map(({ dueAtMs }) => dueAtMs))),
      failed: jobs.flatMap(({ name, failures, error, dueAtMs }) =>
        failures === 0 ? [] : [{ job: name, error: error ?? '', failures, retryAt: toIso(dueAtMs) }],
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
    const note = this.#context.archives.notes.jobs.get(name)
    if (note?.schedule === schedule && note.timeZone === timeZone && note.dueAtMs <= nextMs) return note
    const lastMs = this.#lastRunOf(name)
    const isMissed = lastMs !== null && lastMs < nextMs - (afterMs - nextMs)
    const dueAtMs = isMissed ? this.#context.now() : nextMs
    return { schedule, timeZone, dueAtMs, failures: 0, error: null }
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

  async #run(job: ArchiveJob, { failures }: JobNote): Promise<void> {
    const { name, keep, scope, schedule } = job
    const timeZone = this.#zoneOf(job)
    this.#running.add(name)
    const [nextMs = Infinity] = this.#nextDues(job)
    const next = { schedule, timeZone, dueAtMs: nextMs, failures: 0, error: null }
    try {
      await this.#context.archives.begin(scope, { job: name, keep, timeZone }, timeZone).made
      this.#note(job, next)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      const retryMs = this.#context.now() + Math.min(RETRY_MS * 2 ** failures, RETRY_MAX_MS)
      this.#note(job, { ...next, dueAtMs: Math.min(nextMs, retryMs), failures: failures + 1, error: why })
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
