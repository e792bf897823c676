import type { EstimationState } from '../../api/http/api-context.ts'
import type { Estimate } from '../../mirror/usage/estimates.ts'
import { UserError } from '../../model/user-error.ts'
import { IdleTimer } from './idle-timer.ts'
import type { Executor } from '../../engine/executor/executor.ts'
import type { EstimateSlice } from '../../engine/jobs/estimate.ts'
import { damageIn } from '../follow/explain-error.ts'
import type { Logger } from '../lifecycle/log.ts'

export interface EstimationWorld {
  readonly log: Pick<Logger, 'warn' | 'debug'>
  now(): number
  later(act: () => void, delayMs: number): void
  readonly executor: Pick<Executor, 'run' | 'end'>
  /** Hands counts to the one writer. */
  save(estimates: readonly Estimate[]): Promise<number>
  /** Whether nothing is being read, indexed, checked, archived or purged. */
  isResting(): boolean
  isSearching(): boolean
  onDamage(): void
}

const TICK_MS = 1000
/** After the start nothing is counted before so long a calm: by then the daemon has given back what reading took. */
const CALM_MS = 10_000
/** New messages are counted when so many wait, or one has waited so long. */
const WAITING_MAX = 200
const WAITED_MS_MAX = 10 * 60_000
const SLICE_MS = 50
const PAUSE_MS = 50
/** However many searches follow on each other, a slice is done now and then. */
const PAUSED_MS_MAX = 1000
/** What is read or archived for so long takes memory: then the process that counts ends, or does not begin. */
const READING_MS_MAX = 2000
const SAVED_AT_ONCE = 400
/** A process that ended is not started again in a circle. */
const RETRY_MS = 60_000
const FAILURES_MAX = 5

/**
 * Counts the tokens of messages in the background: a slice at a time, in a process that ends when all is counted, and
 * never while sources are read, archives are made or searches run.
 */
export class Estimation {
  readonly #world: EstimationWorld
  readonly #isEnabled: boolean
  #isCounting = false
  /** True while its process is there. */
  #isRunning = false
  /** Null before it was looked for the first time. */
  #left: number | null = null
  /** Whether counting begins, or begins again, as soon as the daemon has rested for a while. */
  #needsCalm = true
  #waitingSinceMs: number | null = null
  /** Messages that the process may have looked for before they were there. */
  #came = 0
  readonly #calm = new IdleTimer(READING_MS_MAX)
  #notBeforeMs = 0
  #failures = 0
  #isPaused = false
  /** It was ended on purpose: what it says then is no failure, though the mirror may be open again by then. */
  #isDismissed = false
  #isShut = false
  #isStopped = false

  constructor(isEnabled: boolean, world: EstimationWorld) {
    this.#isEnabled = isEnabled
    this.#world = world
  }

  get state(): EstimationState {
    if (!this.#isEnabled) return { state: 'off', left: null }
    if (this.#notBeforeMs === Infinity) return { state: 'failed', left: null }
    if (this.#isRunning) return { state: this.#isPaused ? 'paused' : 'working', left: this.#left }
    return { state: this.#left === 0 ? 'done' : 'waiting', left: this.#left }
  }

  /** Whether its process is there, or about to be. */
  get isAtWork(): boolean {
    return this.#isCounting
  }

  begin(): void {
    if (this.#isEnabled) this.#tick()
  }

  /** Hears of messages that are new or became others. */
  noteMessages(count: number): void {
    this.#came += count
    if (count === 0 || this.#left === null) return
    this.#left += count
    this.#waitingSinceMs ??= this.#world.now()
  }

  /** The mirror's file is to be another. */
  shut(): void {
    this.#isShut = true
    this.#dismiss()
  }

  reopen(): void {
    this.#isShut = false
    this.#forgetLeft()
  }

  /** Resolves when its process has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#world.executor.end('estimate')
  }

  #tick(): void {
    if (this.#isStopped) return
    const isResting = this.#look()
    this.#heedClock(this.#world.now())
    if (isResting && this.#isDue()) void this.#countAll()
    this.#world.later(() => this.#tick(), TICK_MS)
  }

  /** Ends the counting where much is read. @returns whether nothing is, now */
  #look(): boolean {
    const isResting = this.#world.isResting()
    this.#calm.note(isResting, this.#world.now())
    if (this.#isRunning && !this.#calm.isThere) this.#dismiss()
    return isResting
  }

  #dismiss(): void {
    this.#isDismissed = true
    void this.#world.executor.end('estimate')
  }

  #isDue(): boolean {
    const nowMs = this.#world.now()
    if (this.#isCounting || this.#isShut || nowMs < this.#notBeforeMs) return false
    if (this.#needsCalm || this.#left === null) return this.#calm.lastedMs(nowMs) >= CALM_MS
    const waitedMs = this.#waitingSinceMs === null ? 0 : nowMs - this.#waitingSinceMs
    return this.#left > 0 && (this.#left >= WAITING_MAX || waitedMs >= WAITED_MS_MAX)
  }

  /** The clock may be set back: nothing waits until the old time comes again. */
  #heedClock(nowMs: number): void {
    if (this.#waitingSinceMs !== null) this.#waitingSinceMs = Math.min(this.#waitingSinceMs, nowMs)
    if (this.#notBeforeMs !== Infinity) this.#notBeforeMs = Math.min(this.#notBeforeMs, nowMs + RETRY_MS)
  }

  async #countAll(): Promise<void> {
    this.#isCounting = true
    await this.#countInProcess()
    await this.#world.executor.end('estimate')
    this.#isRunning = false
    this.#isCounting = false
  }

  async #countInProcess(): Promise<void> {
    this.#waitingSinceMs = null
    this.#came = 0
    this.#isDismissed = false
    try {
      this.#isRunning = true
      await this.#work()
      this.#needsCalm = this.#isDismissed
      this.#failures = 0
    } catch (error) {
      if (this.#isDismissed) this.#needsCalm = true
      else this.#onFailure(error)
    }
  }

  /** Until all is counted, or it was dismissed. */
  async #work(): Promise<void> {
    const waiting: Estimate[] = []
    try {
      for (let isDone = false; !isDone;) {
        await this.#pause()
        if (this.#isDismissed) return
        const slice = await this.#askForSlice()
        waiting.push(...slice.estimates)
        isDone = slice.isDone
        if (isDone || waiting.length >= SAVED_AT_ONCE) await this.#save(waiting.splice(0))
      }
    } finally {
      // What is lost where the file is to be another is counted again.
      if (waiting.length > 0 && !this.#isShut && !this.#isStopped) await this.#save(waiting)
    }
  }

  /** A disk that is full for a while is no failure of the process: that is not tried for ever, this is. */
  async #save(estimates: readonly Estimate[]): Promise<void> {
    try {
      await this.#world.save(estimates)
    } catch (error) {
      this.#failures = 0
      throw error
    }
  }

  async #askForSlice(): Promise<EstimateSlice> {
    const cameBefore = this.#came
    const slice = await this.#world.executor.run('estimate', { sliceMs: SLICE_MS })
    // After its last count the process looks at all that waits once more.
    if (slice.estimates.length > 0) this.#came -= cameBefore
    this.#left = slice.isDone ? this.#came : slice.left
    return slice
  }

  /** Until nobody would be kept waiting, or the counting was ended. */
  async #pause(): Promise<void> {
    let sinceMs = this.#world.now()
    const isLong = (): boolean => {
      sinceMs = Math.min(sinceMs, this.#world.now())
      return this.#world.now() - sinceMs >= PAUSED_MS_MAX
    }
    while (!this.#isDismissed && (!this.#look() || (this.#world.isSearching() && !isLong()))) {
      this.#isPaused = true
      await new Promise<void>((resolve) => this.#world.later(resolve, PAUSE_MS))
    }
    this.#isPaused = false
  }

  #onFailure(error: unknown): void {
    if (this.#isStopped) return
    const trouble = error instanceof UserError ? error : null
    if (trouble !== null && damageIn(trouble) !== 'none') this.#world.onDamage()
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
    this.#forgetLeft()
  }

  /** What was counted by then is known no more. */
  #forgetLeft(): void {
    this.#left = null
    this.#needsCalm = true
  }
}
