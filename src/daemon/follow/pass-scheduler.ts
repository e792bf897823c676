import type { SourceId } from '../../model/ids.ts'
import { deeper, type PassDepth, type PassOrder } from '../../model/pass.ts'
import { deferred, type Deferred } from '../../engine/deferred.ts'

/** A pass begins this long after the last change, because Cursor may still be writing, or quitting. */
export const SETTLE_MS = 50
/** A pass begins at most this long after the first change, even if writes continue. */
export const SETTLE_MS_MAX = 500
/**
 * After a run that took long, as in a chat of tens of thousands of messages, the next one waits some times as long: an agent
 * writes many times a second, and each run places all messages of its chat.
 */
const REST = 5
const REST_MS_MAX = 600

export interface PacedSource {
  readonly id: SourceId
  /** When the source's files last changed, in epoch milliseconds. */
  changedAtMs(): number
}

export interface PassSchedulerContext<Outcome> {
  now(): number
  /** Runs `act` once after this many milliseconds. */
  later(act: () => void, delayMs: number): void
  source(id: SourceId): PacedSource | undefined
  /** @param orders empty if the run was started because of `hasMore` */
  run(orders: readonly PassOrder[]): Promise<Outcome>
  /** True if a run without orders has something to do. */
  hasMore(): boolean
}

interface Waiting<Outcome> {
  depth: PassDepth
  isAsked: boolean
  sinceMs: number
  /** Callers of `runNow`. The run of this source settles them. */
  readonly askers: Deferred<Outcome>[]
  isUrgent: boolean
}

/**
 * Decides when passes run: never two at once, and never in the middle of a burst of writes. The next run does what is
 * requested during a run. An event only requests a pass.
 */
export class PassScheduler<Outcome> {
  readonly #context: PassSchedulerContext<Outcome>
  readonly #waiting = new Map<SourceId, Waiting<Outcome>>()
  #restsUntilMs = 0
  #isRunning = false
  #isStopped = false

  constructor(context: PassSchedulerContext<Outcome>) {
    this.#context = context
  }

  /** Requests a pass over this source when it is quiet. If a pass already waits, it gets the deeper of both depths. */
  nudge(id: SourceId, depth: PassDepth): void {
    this.#add({ id, depth })
    this.#pump()
  }

  /** Runs passes over these sources at once, at least one, and resolves with the outcome of that run. */
  runNow(orders: readonly PassOrder[]): Promise<Outcome> {
    const asked = deferred<Outcome>()
    for (const order of orders) {
      const waiting = this.#add(order)
      waiting.isUrgent = true
      waiting.askers.push(asked)
    }
    this.#pump()
    return asked.promise
  }

  /** Checks again whether there is more to do. */
  wake(): void {
    this.#pump()
  }

  /** No run starts after this. */
  stop(): void {
    this.#isStopped = true
  }

  #add({ id, depth, isAsked = false }: PassOrder): Waiting<Outcome> {
    let waiting = this.#waiting.get(id)
    if (waiting === undefined) {
      waiting = { depth, isAsked, sinceMs: this.#context.now(), askers: [], isUrgent: false }
      this.#waiting.set(id, waiting)
    }
    waiting.depth = deeper(depth, waiting.depth)
    waiting.isAsked ||= isAsked
    return waiting
  }

  #pump(): void {
    if (this.#isRunning || this.#isStopped) return
    const delays = [...this.#waiting].map(([id, waiting]) => this.#settleDelayMs(id, waiting))
    const ready = [...this.#waiting].filter((_, index) => (delays[index] ?? 0) <= 0)
    if (ready.length === 0 && !this.#context.hasMore()) {
      if (delays.length > 0) this.#context.later(() => this.#pump(), Math.max(1, Math.min(...delays)))
      return
    }
    for (const [id] of ready) this.#waiting.delete(id)
    void this.#run(ready)
  }

  #settleDelayMs(id: SourceId, waiting: Waiting<Outcome>): number {
    if (waiting.isUrgent) return 0
    const now = this.#context.now()
    // If the clock was set back, the pass must not wait until the old time comes again.
    waiting.sinceMs = Math.min(waiting.sinceMs, now)
    const quietFromMs = (this.#context.source(id)?.changedAtMs() ?? 0) + SETTLE_MS
    this.#restsUntilMs = Math.min(this.#restsUntilMs, now + REST_MS_MAX)
    return Math.max(Math.min(quietFromMs, waiting.sinceMs + SETTLE_MS_MAX), this.#restsUntilMs) - now
  }

  async #run(ready: readonly (readonly [SourceId, Waiting<Outcome>])[]): Promise<void> {
    this.#isRunning = true
    const askers = new Set(ready.flatMap(([, waiting]) => waiting.askers))
    const beganAtMs = this.#context.now()
    try {
      const outcome = await this.#context.run(ready.map(([id, { depth, isAsked }]) => ({ id, depth, isAsked })))
      for (const asked of askers) asked.resolve(outcome)
    } catch (error) {
      for (const asked of askers) asked.reject(error instanceof Error ? error : new Error(String(error)))
    } finally {
      const endedAtMs = this.#context.now()
      if (ready.length > 0) this.#restsUntilMs = endedAtMs + Math.min(REST * (endedAtMs - beganAtMs), REST_MS_MAX)
      this.#isRunning = false
      this.#pump()
    }
  }
}
