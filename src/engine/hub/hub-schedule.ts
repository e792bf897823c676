import { UserError } from '../../model/user-error.ts'
import type { HubSettings } from '../../settings.ts'
import type { EngineContext } from '../engine.ts'
import { nextRunMs, pauseMs } from '../next-run.ts'
import type { Sharing } from './sharing.ts'

/** Machines with the same schedule do not all come in the same second. */
const JITTER_MS = 50_000
const FIRST_PAUSE_MS = 2 * 60_000

type HubScheduleContext = Pick<EngineContext, 'now' | 'zone' | 'onError' | 'later' | 'log'>

interface Turn {
  readonly act: 'push' | 'pull'
  readonly schedule: string
  dueAtMs: number
  failures: number
  isRunning: boolean
  /** Why the last one failed. */
  error: UserError | null
}

/** Pushes and pulls when they are due. While the hub does not answer, it is tried again with growing pauses. */
export class HubSchedule {
  readonly #sharing: Pick<Sharing, 'push' | 'pull'>
  readonly #context: HubScheduleContext
  readonly #turns: readonly Turn[]

  constructor(settings: HubSettings, sharing: Pick<Sharing, 'push' | 'pull'>, context: HubScheduleContext) {
    this.#sharing = sharing
    this.#context = context
    this.#turns = (['push', 'pull'] as const)
      .filter((act) => settings.url !== null && settings[act].projects.length > 0)
      .map((act) => ({ act, schedule: settings[act].schedule, dueAtMs: 0, failures: 0, isRunning: false, error: null }))
  }

  /** Must be called every minute. */
  tick(): void {
    for (const turn of this.#turns) {
      if (turn.isRunning || this.#context.now() < turn.dueAtMs) continue
      turn.isRunning = true
      this.#context.later?.(() => void this.#run(turn), Math.random() * JITTER_MS)
    }
  }

  /** Why the hub is not up to date, as sentences. */
  get reasons(): string[] {
    return [...new Set(this.#turns.flatMap(({ error }) => (error === null ? [] : `${error.code}: ${error.message}`)))]
  }

  async #run(turn: Turn): Promise<void> {
    const context = this.#context
    try {
      const done = await (turn.act === 'pull' ? this.#sharing.pull() : this.#sharing.push())
      if ('notice' in done && done.notice !== null) context.log('warn', done.notice)
      if (turn.error !== null) context.log('info', 'The hub answers again.')
      turn.failures = 0
      turn.error = null
      turn.dueAtMs = nextRunMs(turn.schedule, context.zone())
    } catch (error) {
      context.onError?.(error)
      const known = error instanceof UserError ? error : new UserError('hub-failed', String(error), '')
      if (known.code !== 'stopped' && turn.error?.message !== known.message) {
        context.log('warn', `${known.message} ${known.hint}`)
      }
      turn.error = known
      turn.dueAtMs = context.now() + pauseMs(FIRST_PAUSE_MS, turn.failures)
      turn.failures += 1
    } finally {
      turn.isRunning = false
    }
  }
}
