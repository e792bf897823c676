import { countWaiting } from '../../mirror/fulltext/backlog.ts'
import { restoreAct, type RestoreHands, type RestoreNews } from './restore-act.ts'
import type { RestoreOrder, RestoreProgress, RestoreResult, RestoreSlice } from './restore-orders.ts'

/** One restore at a time, worked off a stretch at a time, so that whoever writes can do other things in between. */
export class RestoreSlices {
  readonly #hands: RestoreHands
  #act: AsyncGenerator<RestoreNews, RestoreResult> | null = null
  #progress: RestoreProgress = { done: 0, total: 0 }

  constructor(hands: RestoreHands) {
    this.#hands = hands
  }

  /**
   * @param order what is begun; null where the one that was begun goes on
   * @param forMs after so many milliseconds the stretch ends, with the step that it is at
   */
  async work(order: RestoreOrder | null, forMs: number, onStep: (news: RestoreNews) => void): Promise<RestoreSlice> {
    if (order !== null) await this.end()
    const act = (this.#act ??= order === null ? null : restoreAct(order, this.#hands))
    if (act === null) throw new Error('no restore was begun')
    const endsAtMs = this.#hands.now() + forMs
    for (;;) {
      const step = await act.next().catch((error: unknown) => {
        this.#act = null
        throw error
      })
      if (step.done === true) {
        this.#act = null
        return this.#slice(step.value)
      }
      this.#progress = { done: step.value.done, total: step.value.total }
      onStep(step.value)
      if (this.#hands.now() >= endsAtMs) return this.#slice(null)
    }
  }

  /** Leaves off one that was begun; begun again it comes to the same. */
  async end(): Promise<void> {
    const act = this.#act
    this.#act = null
    await act?.return(undefined as never)
  }

  #slice(result: RestoreResult | null): RestoreSlice {
    const db = this.#hands.mirror()
    return { progress: this.#progress, result, backlog: countWaiting(db) }
  }
}
