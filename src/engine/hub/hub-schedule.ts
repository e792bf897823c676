import { UserError } from '../../model/user-error.ts'
import type { HubSettings } from '../../settings.ts'
import { DueJobs, type DueJob, type JobNote } from '../due-jobs.ts'
import type { EngineContext } from '../engine.ts'
import type { Sharing } from './sharing.ts'

/** Machines with the same schedule do not all come in the same second. */
const JITTER_MS = 50_000
const FIRST_PAUSE_MS = 2 * 60_000

type HubScheduleContext = Pick<EngineContext, 'now' | 'zone' | 'onError' | 'later' | 'log'>

/** Pushes and pulls when they are due, first at the start. While the hub does not answer, the pauses grow. */
export class HubSchedule {
  readonly #sharing: Pick<Sharing, 'push' | 'pull'>
  readonly #context: HubScheduleContext
  readonly #jobs: DueJobs
  /** Why each of them failed the last time. */
  readonly #errors = new Map<DueJob['name'], UserError>()

  constructor(settings: HubSettings, sharing: Pick<Sharing, 'push' | 'pull'>, context: HubScheduleContext) {
    this.#sharing = sharing
    this.#context = context
    const acts = (['push', 'pull'] as const).filter((act) => settings.url !== null && settings[act].projects.length > 0)
    const jobs = acts.map((name): DueJob => {
      const { schedule } = settings[name]
      return { name, schedule, timezone: null, firstPauseMs: FIRST_PAUSE_MS, run: () => this.#run(name) }
    })
    const dueNow = { timeZone: context.zone(), dueAtMs: 0, failures: 0, error: null }
    const notes: Record<string, JobNote> = Object.fromEntries(
      jobs.map(({ name, schedule }) => [name, { ...dueNow, schedule }]),
    )
    this.#jobs = new DueJobs(jobs, () => notes, context)
  }

  /** Must be called every minute. */
  tick(): void {
    this.#jobs.tick()
  }

  /** Why the hub is not up to date, as sentences. */
  get reasons(): string[] {
    return [...new Set([...this.#errors.values()].map(({ code, message }) => `${code}: ${message}`))]
  }

  async #run(act: 'push' | 'pull'): Promise<void> {
    const { log, onError, later } = this.#context
    await new Promise<void>((resume) => later?.(resume, Math.random() * JITTER_MS))
    try {
      const done = await (act === 'pull' ? this.#sharing.pull() : this.#sharing.push())
      if ('notice' in done && done.notice !== null) log('warn', done.notice)
      if (this.#errors.delete(act)) log('info', 'The hub answers again.')
    } catch (error) {
      onError?.(error)
      const known = error instanceof UserError ? error : new UserError('hub-failed', String(error), '')
      const isSaid = known.code === 'stopped' || this.#errors.get(act)?.message === known.message
      if (!isSaid) log('warn', `${known.message} ${known.hint}`)
      this.#errors.set(act, known)
      throw known
    }
  }
}
