import type { EstimationState } from '../api/http/world.ts'
import type { Estimate } from '../mirror/estimates.ts'
import { Trouble } from '../model/trouble.ts'
import type { Estimator } from './estimator.ts'
import type { Logger } from './log.ts'

export interface EstimationWorld {
  readonly log: Pick<Logger, 'warn' | 'debug'>
  now(): number
  later(act: () => void, delayMs: number): void
  start(): Estimator
  /** Hands counts to the one writer. */
  save(estimates: readonly Estimate[]): Promise<number>
  /** Whether nothing is being read or indexed. */
  isResting(): boolean
  isSearching(): boolean
  onDamage(): void
}

const TICK_MS = 1000
/** After the start nothing is counted until the daemon rested for so long. */
const CALM_MS = 5000
/** New messages are counted when so many wait, or one has waited so long. */
const WAITING_MAX = 200
const WAITED_MS_MAX = 10 * 60_000
const SLICE_MS = 50
const PAUSE_MS = 50
/** However many searches follow on each other, a slice is done now and then. */
const PAUSED_MS_MAX = 1000
const SAVED_AT_ONCE = 400
/** A process that ended is not started again in a circle. */
const RETRY_MS = 60_000
const FAILURES_MAX = 5

/**
 * Counts the tokens of messages in the background: a slice at a time, in a process that ends when all is counted, and
 * never while sources are read or searches run.
 */
export class Estimation {
  readonly #world: EstimationWorld
  readonly #isEnabled: boolean
  #estimator: Estimator | null = null
  /** Null before it was looked for the first time. */
  #left: number | null = null
  #waitingSinceMs: number | null = null
  #restingSinceMs: number | null = null
  #notBeforeMs = 0
  #failures = 0
  #isPaused = false
  #isShut = false
  #isStopped = false

  constructor(isEnabled: boolean, world: EstimationWorld) {
    this.#isEnabled = isEnabled
    this.#world = world
  }

  get state(): EstimationState {
    if (!this.#isEnabled) return { state: 'off', left: null }
    if (this.#estimator !== null) return { state: this.#isPaused ? 'paused' : 'working', left: this.#left }
    return { state: this.#left === 0 ? 'done' : 'waiting', left: this.#left }
  }

  /** Whose memory counts as the daemon's. */
  get pids(): number[] {
    const pid = this.#estimator?.pid ?? null
    return pid === null ? [] : [pid]
  }

  begin(): void {
    if (this.#isEnabled) this.#tick()
  }

  /** Hears of messages that are new or became others. */
  noteMessages(count: number): void {
    if (count === 0 || this.#left === null) return
    this.#left += count
    this.#waitingSinceMs ??= this.#world.now()
  }

  /** The mirror's file is to be another. */
  shut(): void {
    this.#isShut = true
    this.#estimator?.end()
  }

  reopen(): void {
    this.#isShut = false
    this.#left = null
  }

  stop(): void {
    this.#isStopped = true
    this.#estimator?.end()
  }

  #tick(): void {
    if (this.#isStopped) return
    if (this.#isDue()) void this.#countAll()
    this.#world.later(() => this.#tick(), TICK_MS)
  }

  #isDue(): boolean {
    const nowMs = this.#world.now()
    if (this.#world.isResting()) this.#restingSinceMs ??= nowMs
    else this.#restingSinceMs = null
    if (this.#estimator !== null || this.#isShut || nowMs < this.#notBeforeMs) return false
    if (this.#left === null) return this.#restingSinceMs !== null && nowMs - this.#restingSinceMs >= CALM_MS
    const waitedMs = this.#waitingSinceMs === null ? 0 : nowMs - this.#waitingSinceMs
    return this.#left > 0 && (this.#left >= WAITING_MAX || waitedMs >= WAITED_MS_MAX)
  }

  async #countAll(): Promise<void> {
    const estimator = this.#world.start()
    this.#estimator = estimator
    this.#waitingSinceMs = null
    try {
      await this.#work(estimator)
      this.#left = 0
      this.#failures = 0
    } catch (error) {
      this.#onFailure(error)
    } finally {
      estimator.end()
      this.#estimator = null
    }
  }

  async #work(estimator: Estimator): Promise<void> {
    const waiting: Estimate[] = []
    for (let isDone = false; !isDone;) {
      await this.#pause()
      const slice = await estimator.work({ sliceMs: SLICE_MS })
      waiting.push(...slice.estimates)
      this.#left = slice.left
      isDone = slice.isDone
      if (isDone || waiting.length >= SAVED_AT_ONCE) await this.#world.save(waiting.splice(0))
    }
  }

  /** Until nobody would be kept waiting. */
  async #pause(): Promise<void> {
    const sinceMs = this.#world.now()
    const isInTheWay = (): boolean =>
      !this.#world.isResting() || (this.#world.isSearching() && this.#world.now() - sinceMs < PAUSED_MS_MAX)
    while (isInTheWay()) {
      this.#isPaused = true
      await new Promise<void>((resolve) => this.#world.later(resolve, PAUSE_MS))
    }
    this.#isPaused = false
  }

  #onFailure(error: unknown): void {
    if (this.#isStopped || this.#isShut) return
    const trouble = error instanceof Trouble ? error : null
    if (trouble?.code === 'estimator-damage') this.#world.onDamage()
    this.#failures += 1
    const isOver = this.#failures >= FAILURES_MAX
    this.#notBeforeMs = isOver ? Infinity : this.#world.now() + RETRY_MS
    const what = isOver
      ? 'Tokens are not estimated until the next start'
      : 'Estimating tokens is tried again in a minute'
    this.#world.log.warn(
      { code: trouble?.code ?? 'fault' },
      `${what}: ${String(error instanceof Error ? error.message : error)}`,
    )
    // What was counted by then is known no more.
    this.#left = null
  }
}
