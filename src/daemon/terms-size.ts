import { statSync } from 'node:fs'
import type { Executor } from '../engine/executor/executor.ts'

const MEASURE_MS = 60_000

export interface TermsSizeContext {
  readonly executor: Pick<Executor, 'run'>
  now(): number
  /** True if nothing is being read or indexed. */
  isResting(): boolean
}

/** Bytes of the full-text tables. A walk over their pages takes a second for two gigabytes, so a process does it. */
export class TermsSize {
  readonly #path: string
  readonly #context: TermsSizeContext
  #bytes: number | null = null
  /** The size of the mirror when it was measured. */
  #fileBytes = -1
  #measuredAtMs = -Infinity
  #isMeasuring = false

  constructor(mirrorPath: string, context: TermsSizeContext) {
    this.#path = mirrorPath
    this.#context = context
  }

  /** The last result; null before the first one. If it is old and nothing else happens, another measurement begins. */
  read(): number | null {
    const sinceMs = Math.abs(this.#context.now() - this.#measuredAtMs)
    if (!this.#isMeasuring && sinceMs >= MEASURE_MS && this.#context.isResting()) void this.#measure()
    return this.#bytes
  }

  async #measure(): Promise<void> {
    const fileBytes = statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0
    if (fileBytes === this.#fileBytes) return
    this.#isMeasuring = true
    try {
      this.#bytes = await this.#context.executor.run('measure-terms', null)
      this.#fileBytes = fileBytes
    } catch {
      // The mirror is being replaced, or the daemon stops.
    } finally {
      this.#measuredAtMs = this.#context.now()
      this.#isMeasuring = false
    }
  }
}
