import { createTask } from 'node-cron'
import { toIso } from '../../api/iso.ts'
import { UserError } from '../../model/user-error.ts'
import type { Settings } from '../../settings.ts'
import type { JobNote } from './archive-notes.ts'
import type { Archives } from './archives.ts'
import type { ArchiveHealth } from '../../api/http/schemas/archives.ts'

type ArchiveJob = Settings['archives']['jobs'][number]

/** The wait after the first failure. Each further failure doubles it. */
const RETRY_MS = 5 * 60_000
const RETRY_MAX_MS = 6 * 3_600_000

export interface ScheduleContext {
  now(): number
  readonly archives: Pick<Archives, 'begin' | 'list' | 'notes' | 'running' | 'atWork'>
  /** The machine's time zone, for jobs without one. */
  zone(): string
  /** Gets a sentence about a job that can never run, or cannot run exactly as scheduled. */
  warn(sentence: string): void
}

/**
 * Runs the archive jobs when they are due. Runs that were missed while the machine slept or the daemon was off are made
 * up once. A failed run is repeated after growing waits, at the latest when the job is due again.
 */
export class ArchiveSchedule {
  readonly #context: ScheduleContext
  readonly #jobs: readonly ArchiveJob[]
  readonly #running = new Set<string>()
  /** Jobs whose schedule never comes. */
  readonly #never = new Set<string>()

  constructor(jobs: readonly ArchiveJob[], context: ScheduleContext) {
    this.#context = context
    this.#jobs = jobs
    for (const { name } of jobs.filter(({ schedule }) => namesSeconds(schedule))) {
      context.warn(`The schedule of the archive job ${name} names seconds. Jobs are only checked once a minute.`)
    }
  }

  /** Must be called every minute. */
  tick(): void {
    for (const job of this.#jobs) {
      if (this.#running.has(job.name)) continue
      const note = this.#noteOf(job) ?? this.#beginNote(job)
      const nowMs = this.#context.now()
      if (note !== null && nowMs >= Math.min(note.dueAtMs, note.retryAtMs ?? Infinity)) void this.#run(job, note)
    }
  }

  get health(): ArchiveHealth {
    const { notes, running, atWork } = this.#context.archives
    const made = [...notes.runs.values()]
      .filter(({ state }) => state !== 'failed')
      .map(({ createdAtMs }) => createdAtMs)
    const jobs = this.#jobs.flatMap((job) => {
      const note = this.#noteOf(job) ?? this.#firstNote(job)
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
   * The job's note, if it was written for this schedule and time zone. Null if there is none, or if the job is due before
   * the noted time: a clock that was ahead computed that time, and was corrected since.
   */
  #noteOf(job: ArchiveJob): JobNote | null {
    const note = this.#context.archives.notes.job(job.name)
    if (note === null || note.schedule !== job.schedule || note.timeZone !== this.#zoneOf(job)) return null
    const [nextMs = Infinity] = this.#nextDues(job)
    return note.dueAtMs > nextMs ? null : note
  }

  #beginNote(job: ArchiveJob): JobNote | null {
    const note = this.#firstNote(job)
    if (note !== null) this.#context.archives.notes.noteJob(job.name, note)
    return note
  }

  /** The note of a job that has none. A run counts as missed if the last one is older than one interval. Null: never due. */
  #firstNote(job: ArchiveJob): JobNote | null {
    const [nextMs, afterMs = Infinity] = this.#nextDues(job)
    if (nextMs === undefined) return null
    const lastMs = this.#lastRunOf(job)
    const isMissed = lastMs !== null && lastMs < nextMs - (afterMs - nextMs)
    return this.#noteFor(job, isMissed ? this.#context.now() : nextMs, idle)
  }

  /** When the last successful run began, in epoch milliseconds. Null if none is known. */
  #lastRunOf(job: ArchiveJob): number | null {
    try {
      const last = this.#context.archives.list().find((run) => run.job === job.name && run.state !== 'failed')
      return last === undefined ? null : Date.parse(last.createdAt ?? '')
    } catch (error) {
      // An unreadable folder is reported by the run itself.
      if (error instanceof UserError) return null
      throw error
    }
  }

  async #run(job: ArchiveJob, { failures, dueAtMs }: JobNote): Promise<void> {
    const { name, keep } = job
    const timeZone = this.#zoneOf(job)
    const [nextMs = dueAtMs] = this.#nextDues(job)
    const retryAtMs = (): number => this.#context.now() + Math.min(RETRY_MS * 2 ** failures, RETRY_MAX_MS)
    this.#running.add(name)
    // If the process is killed during the run, the run is repeated.
    this.#write(job, nextMs, { failures, retryAtMs: retryAtMs(), error: null })
    try {
      await this.#context.archives.begin(job.scope, { job: name, keep, timeZone }, timeZone).made
      this.#write(job, nextMs, idle)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      this.#write(job, nextMs, { failures: failures + 1, retryAtMs: retryAtMs(), error: why })
    } finally {
      this.#running.delete(name)
    }
  }

  #write(job: ArchiveJob, dueAtMs: number, outcome: Outcome): void {
    this.#context.archives.notes.noteJob(job.name, this.#noteFor(job, dueAtMs, outcome))
  }

  #noteFor(job: ArchiveJob, dueAtMs: number, outcome: Outcome): JobNote {
    return { schedule: job.schedule, timeZone: this.#zoneOf(job), dueAtMs, ...outcome }
  }

  /** The next two times after now. Empty if the schedule names a day that does not exist. */
  #nextDues(job: ArchiveJob): readonly number[] {
    if (this.#never.has(job.name)) return []
    try {
      const task = createTask(job.schedule, () => undefined, { timezone: this.#zoneOf(job) })
      const dues = task.getNextRuns(2).map((date) => date.getTime())
      void task.destroy()
      return dues
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      this.#context.warn(`The archive job ${job.name} never runs: ${why}.`)
      this.#never.add(job.name)
      return []
    }
  }

  #zoneOf(job: ArchiveJob): string {
    return job.timezone ?? this.#context.zone()
  }
}

/** True if the schedule has six fields and the first, the seconds, is not 0. */
function namesSeconds(schedule: string): boolean {
  const [seconds = '', ...others] = schedule.trim().split(/\s+/)
  return others.length === 5 && !/^0+$/.test(seconds)
}

type Outcome = Pick<JobNote, 'failures' | 'retryAtMs' | 'error'>

const idle: Outcome = { failures: 0, retryAtMs: null, error: null }
