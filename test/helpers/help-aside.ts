import type { Help } from '../../src/daemon/ingest-run.ts'
import { makeOrderReader } from '../../src/indexer/discover.ts'
import type { ReadingThread } from '../../src/indexer/reading-thread.ts'
import { CutAhead, type CuttingThread } from '../../src/mirror/cut-ahead.ts'
import { BatchCutter } from '../../src/mirror/cut-batch.ts'

/**
 * What the second thread does, done in this one: at once when it is asked for, and copied as between threads.
 * @param isLost tasks, by their number, that are never answered
 */
export class HelpAside implements ReadingThread, CuttingThread, Help {
  readonly #reader = makeOrderReader()
  readonly #cutter = new BatchCutter()
  readonly #ahead = new CutAhead(this)
  readonly #isLost: (task: number) => boolean
  reads = 0
  cuts = 0

  constructor(isLost: (task: number) => boolean = () => false) {
    this.#isLost = isLost
  }

  thread(): ReadingThread {
    return this
  }

  cutAhead(): CutAhead {
    return this.#ahead
  }

  read(order: unknown): () => unknown {
    return this.#readNow(() => this.#reader.read(structuredClone(order)))
  }

  readOn(): () => unknown {
    return this.#readNow(() => this.#reader.readOn())
  }

  cut(parts: readonly string[]): ReturnType<CuttingThread['cut']> {
    this.cuts += 1
    const batch = structuredClone(this.#cutter.cut(parts))
    return () => batch
  }

  #readNow(work: () => unknown): () => unknown {
    this.reads += 1
    const answer: unknown = structuredClone(work())
    const isLost = this.#isLost(this.reads)
    return () => (isLost ? null : answer)
  }
}
