import type { Estimate } from '../../mirror/usage/estimates.ts'
import { UserError } from '../../model/user-error.ts'
import { IdleTimer } from './idle-timer.ts'
import type { Executor } from '../../engine/executor/executor.ts'
import type { EstimateSlice } from '../../engine/jobs/estimate.ts'
import { damageToldBy } from '../../mirror/maintenance/check-pages.ts'
import type { Logger } from '../lifecycle/log.ts'
import type { EstimationState } from '../../api/http/schemas/status.ts'

export interface EstimationContext {
  readonly log: Pick<Logger, 'warn' | 'debug'>
  now(): number
  later(act: () => void, delayMs: number): void
  readonly executor: Pick<Executor, 'run' | 'end'>
  /** Has the mirror's writer save counts. */
  save(estimates: readonly Estimate[]): Promise<number>
  /** True if nothing is being read, indexed, checked, archived or purged. */
  isResting(): boolean
  isSearching(): boolean
  onDamage(): void
}

const TICK_MS = 1000
/** Counting starts after this time without work: by then the daemon has released the memory that reading took. */
const IDLE_MS_MIN = 10_000
/** New messages are counted when this many wait, or when one has waited this long. */
const WAITING_MAX = 200
const WAITED_MS_MAX = 10 * 60_000
const SLICE_MS = 50
const PAUSE_MS = 50
/** Searches pause counting for this long at most, so that many searches in a row cannot stop it. */
const PAUSED_MS_MAX = 1000
/** Reading or archiving for longer than this takes memory: the counting process then ends, or does not start. */
const READING_MS_MAX = 2000
const SAVED_AT_ONCE = 400
/** After a failure, the process is not started again before this time. */
const RETRY_MS = 60_000
const FAILURES_MAX = 5

/**
 * Counts the tokens of messages in the background, in slices. Its process ends when everything is counted. It never counts
 * while sources are read, archives are made or searches run.
 */
export class Estimation {
  readonly #context: EstimationContext
  readonly #isEnabled: boolean
  #isCounting = false
  /** True while the process is used. */
  #isRunning = false
  /** How many messages have no count. Null before the first slice. */
  #left: number | null = null
  /** True if counting starts as soon as the daemon was idle for a while, however few messages wait. */
  #startsWhenIdle = true
  #waitingSinceMs: number | null = null
  /** New messages that the process may have missed, because it looked before they arrived. */
  #arrived = 0
  readonly #idle = new IdleTimer(READING_MS_MAX)
  #notBeforeMs = 0
  #failures = 0
  #isPaused = false
  /** True if the process was ended on purpose. Its error is then not a failure, even if the mirror is open again. */
  #isInterrupted = false
  #isShut = false
  #isStopped = false

  constructor(isEnabled: boolean, context: EstimationContext) {
    this.#isEnabled = isEnabled
    this.#context = context
  }

  get state(): EstimationState {
    if (!this.#isEnabled) return { state: 'off', left: null }
    if (this.#notBeforeMs === Infinity) return { state: 'failed', left: null }
    if (this.#isRunning) return { state: this.#isPaused ? 'paused' : 'working', left: this.#left }
    return { state: this.#left === 0 ? 'done' : 'waiting', left: this.#left }
  }

  /** True while the process runs or is about to start. */
  get isAtWork(): boolean {
    return this.#isCounting
  }

  begin(): void {
    if (this.#isEnabled) this.#tick()
  }

  /** Must be called when messages are new or changed. */
  noteMessages(count: number): void {
    this.#arrived += count
    if (count === 0 || this.#left === null) return
    this.#left += count
    this.#waitingSinceMs ??= this.#context.now()
  }

  /** Ends the process, because the mirror's file is about to be replaced. */
  shut(): void {
    this.#isShut = true
    this.#interrupt()
  }

  reopen(): void {
    this.#isShut = false
    this.#forgetLeft()
  }

  /** Resolves when its process has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#context.executor.end('estimate')
  }

  #tick(): void {
    if (this.#isStopped) return
    const isResting = this.#checkResting()
    this.#limitToClock(this.#context.now())
    if (isResting && this.#isDue()) void this.#countAll()
    this.#context.later(() => this.#tick(), TICK_MS)
  }

  /** Ends counting if the daemon works for longer than a moment. @returns true if the daemon does nothing now */
  #checkResting(): boolean {
    const isResting = this.#context.isResting()
    this.#idle.note(isResting, this.#context.now())
    if (this.#isRunning && !this.#idle.isIdle) this.#interrupt()
    return isResting
  }

  #interrupt(): void {
    this.#isInterrupted = true
    void this.#context.executor.end('estimate')
  }

  #isDue(): boolean {
    const nowMs = this.#context.now()
    if (this.#isCounting || this.#isShut || nowMs < this.#notBeforeMs) return false
    if (this.#startsWhenIdle || this.#left === null) return this.#idle.idleMs(nowMs) >= IDLE_MS_MIN
    const waitedMs = this.#waitingSinceMs === null ? 0 : nowMs - this.#waitingSinceMs
    return this.#left > 0 && (this.#left >= WAITING_MAX || waitedMs >= WAITED_MS_MAX)
  }

  /** After the clock was set back, nothing may wait until the old time comes again. */
  #limitToClock(nowMs: number): void {
    if (this.#waitingSinceMs !== null) this.#waitingSinceMs = Math.min(this.#waitingSinceMs, nowMs)
    if (this.#notBeforeMs !== Infinity) this.#notBeforeMs = Math.min(this.#notBeforeMs, nowMs + RETRY_MS)
  }

  async #countAll(): Promise<void> {
    this.#isCounting = true
    await this.#countInProcess()
    await this.#context.executor.end('estimate')
    this.#isRunning = false
    this.#isCounting = false
  }

  async #countInProcess(): Promise<void> {
    this.#waitingSinceMs = null
    this.#arrived = 0
    this.#isInterrupted = false
    try {
      this.#isRunning = true
      await this.#work()
      this.#startsWhenIdle = this.#isInterrupted
      this.#failures = 0
    } catch (error) {
      if (this.#isInterrupted) this.#startsWhenIdle = true
      else this.#onFailure(error)
    }
  }

  /** Runs slices until everything is counted, or until `#interrupt`. */
  async #work(): Promise<void> {
    const waiting: Estimate[] = []
    try {
      for (let isDone = false; !isDone;) {
        await this.#pause()
        if (this.#isInterrupted) return
        const slice = await this.#runSlice()
        waiting.push(...slice.estimates)
        isDone = slice.isDone
        if (isDone || waiting.length >= SAVED_AT_ONCE) await this.#save(waiting.splice(0))
      }
    } finally {
      // If the mirror is about to be replaced, these counts are lost and counted again.
      if (waiting.length > 0 && !this.#isShut && !this.#isStopped) await this.#save(waiting)
    }
  }

  /** A full disk is not a failure of the process: saving is retried for ever, the process is not. */
  async #save(estimates: readonly Estimate[]): Promise<void> {
    try {
      await this.#context.save(estimates)
    } catch (error) {
      this.#failures = 0
      throw error
    }
  }

  async #runSlice(): Promise<EstimateSlice> {
    const arrivedBefore = this.#arrived
    const slice = await this.#context.executor.run('estimate', { sliceMs: SLICE_MS })
    // After its last count the process looks once more for messages without a count.
    if (slice.estimates.length > 0) this.#arrived -= arrivedBefore
    this.#left = slice.isDone ? this.#arrived : slice.left
    return slice
  }

  /** Waits until counting would delay nothing, or until `#interrupt`. */
  async #pause(): Promise<void> {
    let sinceMs = this.#context.now()
    const isLong = (): boolean => {
      sinceMs = Math.min(sinceMs, this.#context.now())
      return this.#context.now() - sinceMs >= PAUSED_MS_MAX
    }
    while (!this.#isInterrupted && (!this.#checkResting() || (this.#context.isSearching() && !isLong()))) {
      this.#isPaused = true
      await new Promise<void>((resolve) => this.#context.later(resolve, PAUSE_MS))
    }
    this.#isPaused = false
  }

  #onFailure(error: unknown): void {
    if (this.#isStopped) return
    const code = error instanceof UserError ? error.code : 'fault'
    if (damageToldBy(code) !== 'none') this.#context.onDamage()
    this.#failures += 1
    const isOver = this.#failures >= FAILURES_MAX
    this.#notBeforeMs = isOver ? Infinity : this.#context.now() + RETRY_MS
    const what = isOver
      ? 'Counting tokens failed several times. It will start again at the next start of the daemon'
      : 'Counting tokens failed. It will be tried again in a minute'
    this.#context.log.warn({ code }, `${what}: ${String(error instanceof Error ? error.message : error)}`)
    this.#forgetLeft()
  }

  /** The number of messages without a count is unknown now. */
  #forgetLeft(): void {
    this.#left = null
    this.#startsWhenIdle = true
  }
}
