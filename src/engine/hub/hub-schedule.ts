import { createTask } from 'node-cron'
import { UserError } from '../../model/user-error.ts'
import type { HubSettings } from '../../settings.ts'
import type { Sharing } from './sharing.ts'

/** A chat is sent this long after its last change. */
const QUIET_MS = 10 * 60_000
/** After this time, chats that keep changing are sent too. */
const WAIT_MAX_MS = 30 * 60_000
/** Machines with the same schedule do not all come in the same second. */
const JITTER_MS = 50_000
/** The pause after the first failure. Each further failure doubles it. */
const RETRY_MS = 2 * 60_000
const RETRY_MAX_MS = 6 * 3_600_000

interface HubScheduleContext {
  /** Epoch milliseconds. */
  now(): number
  zone(): string
  readonly sharing: Pick<Sharing, 'push' | 'pull'>
  onError?(error: unknown): void
  /** Runs `act` after a delay, unless the daemon was stopped. */
  later(act: () => void, delayMs: number): void
  log(level: 'info' | 'warn', sentence: string): void
}

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
  readonly #context: HubScheduleContext
  readonly #turns: readonly Turn[]
  /** When all changed chats were last sent, quiet or not. */
  #allSentAtMs: number

  constructor({ url, push, pull }: HubSettings, context: HubScheduleContext) {
    this.#context = context
    this.#allSentAtMs = context.now()
    const turnOf = (act: Turn['act'], { projects, schedule }: HubSettings['pull']): Turn[] =>
      url === null || projects.length === 0
        ? []
        : [{ act, schedule, dueAtMs: 0, failures: 0, isRunning: false, error: null }]
    this.#turns = [...turnOf('push', push), ...turnOf('pull', pull)]
  }

  /** Must be called every minute. */
  tick(): void {
    for (const turn of this.#turns) {
      if (turn.isRunning || this.#context.now() < turn.dueAtMs) continue
      turn.isRunning = true
      this.#context.later(() => void this.#run(turn), Math.random() * JITTER_MS)
    }
  }

  /** Why the hub is not up to date, as sentences. */
  get reasons(): string[] {
    return [...new Set(this.#turns.flatMap(({ error }) => (error === null ? [] : `${error.code}: ${error.message}`)))]
  }

  async #run(turn: Turn): Promise<void> {
    const context = this.#context
    try {
      if (turn.act === 'pull') await context.sharing.pull()
      else await this.#push()
      if (turn.error !== null) context.log('info', 'The hub answers again.')
      turn.failures = 0
      turn.error = null
      turn.dueAtMs = this.#next(turn.schedule)
    } catch (error) {
      context.onError?.(error)
      const known = error instanceof UserError ? error : new UserError('hub-failed', String(error), '')
      if (known.code !== 'stopped' && turn.error?.message !== known.message) {
        context.log('warn', `${known.message} ${known.hint}`)
      }
      turn.error = known
      turn.dueAtMs = context.now() + Math.min(RETRY_MS * 2 ** turn.failures, RETRY_MAX_MS)
      turn.failures += 1
    } finally {
      turn.isRunning = false
    }
  }

  async #push(): Promise<void> {
    const nowMs = this.#context.now()
    const sendsAll = nowMs - this.#allSentAtMs >= WAIT_MAX_MS
    const { notice } = await this.#context.sharing.push({}, sendsAll ? null : nowMs - QUIET_MS)
    if (sendsAll) this.#allSentAtMs = nowMs
    if (notice !== null) this.#context.log('warn', notice)
  }

  #next(schedule: string): number {
    const task = createTask(schedule, () => undefined, { timezone: this.#context.zone() })
    const [next] = task.getNextRuns(1)
    void task.destroy()
    return next?.getTime() ?? Infinity
  }
}
