import { createTask } from 'node-cron'
import type { ArchiveHealth } from '../../api/http/archive-shapes.ts'
import { toIso } from '../../api/iso.ts'
import { UserError } from '../../model/user-error.ts'
import type { Settings } from '../../settings.ts'
import type { JobNote } from './archive-notes.ts'
import type { Archives } from './archives.ts'

type ArchiveJob = Settings['archives']['jobs'][number]

/** After the first failure; doubled with each that follows. */
const RETRY_MS = 5 * 60_000
const RETRY_MAX_MS = 6 * 3_600_000

export interface ScheduleWorld {
  now(): number
  readonly archives: Pick<Archives, 'begin' | 'list' | 'notes' | 'running' | 'atWork'>
  /** The machine's time zone, for jobs that name none. */
  zone(): string
  /** Hears of a job that can never be due, or not when it says. */
  warn(sentence: string): void
}

/**
 * When the jobs run. What was due while the machine slept, or the daemon was off, is made up once; a run that failed is
 * tried again with growing patience, at the latest when the job is due again.
 */
export class ArchiveSchedule {
  readonly #world: ScheduleWorld
  readonly #jobs: readonly ArchiveJob[]
  readonly #atWork = new Set<string>()
  readonly #never = new Set<string>()

  constructor(jobs: readonly ArchiveJob[], world: ScheduleWorld) {
    this.#world = world
    this.#jobs = jobs
    for (const { name } of jobs.filter(({ schedule }) => namesSeconds(schedule))) {
      world.warn(`The schedule of the archive job ${name} names seconds; jobs are looked at once a minute, no sooner.`)
    }
  }

  /** To be called every minute. */
  tick(): void {
    for (const job of this.#jobs) {
      if (this.#atWork.has(job.name)) continue
      const note = this.#noteOf(job) ?? this.#beginNote(job)
      const nowMs = this.#world.now()
      if (note !== null && nowMs >= Math.min(note.dueAtMs, note.retryAtMs ?? Infinity)) void this.#run(job, note)
    }
  }

  get health(): ArchiveHealth {
    const { notes, running, atWork } = this.#world.archives
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
   * What was noted under this schedule, in this zone; null where that is nothing. Nor is it anything where the job is due
   * before the noted time: that was reckoned by a clock that ran ahead, and was since set right.
   */
  #noteOf(job: ArchiveJob): JobNote | null {
    const note = this.#world.archives.notes.job(job.name)
    if (note === null || note.schedule !== job.schedule || note.timeZone !== this.#zoneOf(job)) return null
    const [nextMs = Infinity] = this.#nextDues(job)
    return note.dueAtMs > nextMs ? null : note
  }

  #beginNote(job: ArchiveJob): JobNote | null {
    const note = this.#firstNote(job)
    if (note !== null) this.#world.archives.notes.noteJob(job.name, note)
    return note
  }

  /** Where nothing is noted the time between two runs tells whether one was missed since the last. Null: never due. */
  #firstNote(job: ArchiveJob): JobNote | null {
    const [nextMs, afterMs = Infinity] = this.#nextDues(job)
    if (nextMs === undefined) return null
    const lastMs = this.#lastRunOf(job)
    const isMissed = lastMs !== null && lastMs < nextMs - (afterMs - nextMs)
    return this.#noteFor(job, isMissed ? this.#world.now() : nextMs, idle)
  }

  /** When the last one that was made began, in epoch milliseconds; null where none is known. */
  #lastRunOf(job: ArchiveJob): number | null {
    try {
      const last = this.#world.archives.list().find((run) => run.job === job.name && run.state !== 'failed')
      return last === undefined ? null : Date.parse(last.createdAt ?? '')
    } catch (error) {
      // A folder that cannot be read is told by whatever wants more of it than this.
      if (error instanceof UserError) return null
      throw error
    }
  }

  async #run(job: ArchiveJob, { failures, dueAtMs }: JobNote): Promise<void> {
    const { name, keep } = job
    const timeZone = this.#zoneOf(job)
    const [nextMs = dueAtMs] = this.#nextDues(job)
    const retryAtMs = (): number => this.#world.now() + Math.min(RETRY_MS * 2 ** failures, RETRY_MAX_MS)
    this.#atWork.add(name)
    // Whatever ends us now, it is tried again.
    this.#write(job, nextMs, { failures, retryAtMs: retryAtMs(), error: null })
    try {
      await this.#world.archives.begin(job.scope, { job: name, keep, timeZone }, timeZone).made
      this.#write(job, nextMs, idle)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      this.#write(job, nextMs, { failures: failures + 1, retryAtMs: retryAtMs(), error: why })
    } finally {
      this.#atWork.delete(name)
    }
  }

  #write(job: ArchiveJob, dueAtMs: number, outcome: Outcome): void {
    this.#world.archives.notes.noteJob(job.name, this.#noteFor(job, dueAtMs, outcome))
  }

  #noteFor(job: ArchiveJob, dueAtMs: number, outcome: Outcome): JobNote {
    return { schedule: job.schedule, timeZone: this.#zoneOf(job), dueAtMs, ...outcome }
  }

  /** The next two times, from now on; none where no calendar holds such a day. */
  #nextDues(job: ArchiveJob): readonly number[] {
    if (this.#never.has(job.name)) return []
    try {
      const task = createTask(job.schedule, () => undefined, { timezone: this.#zoneOf(job) })
      const dues = task.getNextRuns(2).map((date) => date.getTime())
      void task.destroy()
      return dues
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      this.#world.warn(`The archive job ${job.name} never runs: ${why}.`)
      this.#never.add(job.name)
      return []
    }
  }

  #zoneOf(job: ArchiveJob): string {
    return job.timezone ?? this.#world.zone()
  }
}

/** Of six fields the first; at the full minute none is named. */
function namesSeconds(schedule: string): boolean {
  const [seconds = '', ...others] = schedule.trim().split(/\s+/)
  return others.length === 5 && !/^0+$/.test(seconds)
}

type Outcome = Pick<JobNote, 'failures' | 'retryAtMs' | 'error'>

const idle: Outcome = { failures: 0, retryAtMs: null, error: null }
