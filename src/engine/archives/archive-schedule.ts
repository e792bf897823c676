import type { ArchiveHealth } from '../../api/answers/archives.ts'
import { toIso } from '../../api/iso.ts'
import type { Settings } from '../../settings.ts'
import { nextRunMs, pauseMs } from '../next-run.ts'
import type { JobNote } from './archive-notes.ts'
import type { Archives } from './archives.ts'

type ArchiveJob = Settings['archives']['jobs'][number]

const FIRST_PAUSE_MS = 5 * 60_000

interface Clock {
  now(): number
  /** The machine's time zone, for jobs without one. */
  zone(): string
}

/**
 * Runs the archive jobs when they are due. Runs that were missed while the machine slept or the daemon was off are made
 * up once. A failed run is repeated after growing waits, at the latest when the job is due again.
 */
export class ArchiveSchedule {
  readonly #jobs: readonly ArchiveJob[]
  readonly #archives: Archives
  readonly #clock: Clock
  readonly #running = new Set<string>()

  constructor(jobs: readonly ArchiveJob[], archives: Archives, clock: Clock) {
    this.#jobs = jobs
    this.#archives = archives
    this.#clock = clock
  }

  /** Must be called every minute. */
  tick(): void {
    for (const job of this.#jobs) {
      if (this.#running.has(job.name)) continue
      const note = this.#noteOf(job)
      this.#save(job, note)
      if (this.#clock.now() >= note.dueAtMs) void this.#run(job, note.failures)
    }
  }

  get health(): Pick<ArchiveHealth, 'nextRunAt' | 'failed'> {
    const notes = this.#jobs.map((job) => ({ job: job.name, ...this.#noteOf(job) }))
    return {
      nextRunAt: toIso(Math.min(...notes.map(({ dueAtMs }) => dueAtMs))),
      failed: notes.flatMap(({ job, failures, error, dueAtMs }) =>
        failures === 0 ? [] : [{ job, error: error ?? '', failures, retryAt: toIso(dueAtMs) }],
      ),
    }
  }

  /**
   * When the job is due. What was noted holds only for its schedule and time zone, and not if the job is due before: a
   * clock that was ahead computed that time, and was corrected since.
   */
  #noteOf(job: ArchiveJob): JobNote {
    const next = this.#nextOf(job)
    const note = this.#archives.notes.jobs[job.name]
    const isSame = note?.schedule === next.schedule && note.timeZone === next.timeZone
    return isSame && note.dueAtMs <= next.dueAtMs ? note : next
  }

  #nextOf({ schedule, timezone }: ArchiveJob): JobNote {
    const timeZone = timezone ?? this.#clock.zone()
    return { schedule, timeZone, dueAtMs: nextRunMs(schedule, timeZone), failures: 0, error: null }
  }

  async #run(job: ArchiveJob, failures: number): Promise<void> {
    const { name, keep, scope } = job
    const next = this.#nextOf(job)
    const { timeZone, dueAtMs } = next
    this.#running.add(name)
    const make = async (): Promise<string | null> => this.#archives.run(scope, timeZone, { job: name, keep }).made
    // A folder that cannot be listed is an error before the run begins.
    const error = await make().catch(({ message }: Error) => message)
    this.#running.delete(name)
    const retryAtMs = this.#clock.now() + pauseMs(FIRST_PAUSE_MS, failures)
    const retry = { ...next, dueAtMs: Math.min(dueAtMs, retryAtMs), failures: failures + 1, error }
    this.#save(job, error === null ? next : retry)
  }

  #save({ name }: ArchiveJob, note: JobNote): void {
    const { notes } = this.#archives
    if (notes.jobs[name] === note) return
    notes.jobs[name] = note
    this.#archives.saveNotes()
  }
}
