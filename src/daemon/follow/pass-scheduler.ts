import { passDepths, type PassDepth } from '../../indexer/source.ts'
import type { SourceId } from '../../model/ids.ts'
import { deferred, type Deferred } from '../../engine/deferred.ts'

/** A pass begins this long after the last change seen: Cursor may be in the middle of something, or quitting. */
export const SETTLE_MS = 50
/** …but at most this long after the first, while writes go on. */
export const SETTLE_MS_MAX = 500

export interface PacedSource {
  readonly id: SourceId
  /** When the source's files last changed, epoch milliseconds. */
  changedAtMs(): number
}

export interface Order {
  readonly id: SourceId
  readonly depth: PassDepth
}

export interface PassSchedulerContext<Outcome> {
  now(): number
  /** Runs `act` once after this many milliseconds. */
  later(act: () => void, delayMs: number): void
  source(id: SourceId): PacedSource | undefined
  /** @param orders none where a run was begun because of `hasMore` */
  run(orders: readonly Order[]): Promise<Outcome>
  /** Whether a run without orders has something to do. */
  hasMore(): boolean
}

interface Waiting<Outcome> {
  depth: PassDepth
  sinceMs: number
  /** Resolved by the run that covers what was asked. */
  readonly askers: Deferred<Outcome>[]
  isUrgent: boolean
}

/**
 * Decides when a pass runs: never two at once, never in the middle of a burst of writes, and whatever is asked for
 * while one runs is done by the next. An event is a nudge, not the work.
 */
export class PassScheduler<Outcome> {
  readonly #world: PassSchedulerContext<Outcome>
  readonly #waiting = new Map<SourceId, Waiting<Outcome>>()
  #isRunning = false
  #isStopped = false

  constructor(world: PassSchedulerContext<Outcome>) {
    this.#world = world
  }

  /** Asks for a pass over this source once it has settled. Asking again deepens what waits. */
  nudge(id: SourceId, depth: PassDepth): void {
    this.#add(id, depth)
    this.#pump()
  }

  /** Runs passes over at least one source without waiting for quiet, and resolves with the outcome of that run. */
  runNow(ids: readonly SourceId[], depth: PassDepth): Promise<Outcome> {
    const asked = deferred<Outcome>()
    for (const id of ids) {
      const waiting = this.#add(id, depth)
      waiting.isUrgent = true
      waiting.askers.push(asked)
    }
    this.#pump()
    return asked.promise
  }

  /** Looks again whether there is more to do. */
  wake(): void {
    this.#pump()
  }

  /** Nothing starts after this. */
  stop(): void {
    this.#isStopped = true
  }

  #add(id: SourceId, depth: PassDepth): Waiting<Outcome> {
    let waiting = this.#waiting.get(id)
    if (waiting === undefined) {
      waiting = { depth, sinceMs: this.#world.now(), askers: [], isUrgent: false }
      this.#waiting.set(id, waiting)
    }
    if (passDepths.indexOf(depth) > passDepths.indexOf(waiting.depth)) waiting.depth = depth
    return waiting
  }

  #pump(): void {
    if (this.#isRunning || this.#isStopped) return
    const delays = [...this.#waiting].map(([id, waiting]) => this.#settleDelayMs(id, waiting))
    const ready = [...this.#waiting].filter((_, index) => (delays[index] ?? 0) <= 0)
    if (ready.length === 0 && !this.#world.hasMore()) {
      if (delays.length > 0) this.#world.later(() => this.#pump(), Math.max(1, Math.min(...delays)))
      return
    }
    for (const [id] of ready) this.#waiting.delete(id)
    void this.#run(ready)
  }

  #settleDelayMs(id: SourceId, waiting: Waiting<Outcome>): number {
    if (waiting.isUrgent) return 0
    const now = this.#world.now()
    // The clock was set back meanwhile: nobody waits until the old time comes again.
    waiting.sinceMs = Math.min(waiting.sinceMs, now)
    const quietFromMs = (this.#world.source(id)?.changedAtMs() ?? 0) + SETTLE_MS
    return Math.min(quietFromMs, waiting.sinceMs + SETTLE_MS_MAX) - now
  }

  async #run(ready: readonly (readonly [SourceId, Waiting<Outcome>])[]): Promise<void> {
    this.#isRunning = true
    const askers = new Set(ready.flatMap(([, waiting]) => waiting.askers))
    try {
      const outcome = await this.#world.run(ready.map(([id, { depth }]) => ({ id, depth })))
      for (const asked of askers) asked.resolve(outcome)
    } catch (error) {
      for (const asked of askers) asked.reject(error instanceof Error ? error : new Error(String(error)))
    } finally {
      this.#isRunning = false
      this.#pump()
    }
  }
}
