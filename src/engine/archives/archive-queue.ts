import type { ArchiveHealth } from '../../api/http/archive-shapes.ts'
import { UserError } from '../../model/user-error.ts'
import type { Progress } from '../archive-process.ts'
import type { OrderedWork } from '../one-order.ts'

type AtWork = NonNullable<ArchiveHealth['atWork']>
export type StartWork<Result> = (onProgress: (progress: Progress) => void) => OrderedWork<Result>

const QUEUE_MAX = 20

/** What is asked of an archive folder is done one after the other, whatever it is. */
export class ArchiveQueue {
  readonly #onProgress: (atWork: AtWork) => void
  #atWork: { told: AtWork; hasBegun: boolean; work: OrderedWork<unknown> } | null = null
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  /** What else is done, or waits for its turn. */
  #others = 0
  #isStopped = false

  constructor(onProgress: (atWork: AtWork) => void) {
    this.#onProgress = onProgress
  }

  get atWork(): AtWork | null {
    return this.#atWork?.told ?? null
  }

  /** Whether anything is at work, or waits for that: nearly all of it is done by a process of its own. */
  get isBusy(): boolean {
    return this.#waiting > 0 || this.#others > 0
  }

  /** How far the act on this run is; null while it does not say. */
  progressOf(name: string): Progress | null {
    if (this.#atWork?.told.name !== name || !this.#atWork.hasBegun) return null
    const { done, total } = this.#atWork.told
    return { done, total }
  }

  /** @throws UserError `archive-busy` at once, where too many wait */
  enqueue<Result>(name: string, act: AtWork['act'], start: StartWork<Result>): Promise<Result> {
    if (this.#waiting >= QUEUE_MAX) {
      throw new UserError('archive-busy', `${QUEUE_MAX} runs and proofs are waiting already.`, 'Ask again later.')
    }
    this.#waiting += 1
    const obeyed = this.#last
      .then(() => this.#obey({ name, act, done: 0, total: 0 }, start))
      .finally(() => (this.#waiting -= 1))
    this.#last = obeyed.catch(() => undefined)
    return obeyed
  }

  /** Does something else while none of these is at work; what is asked for meanwhile waits. */
  alone<Outcome>(act: () => Promise<Outcome>): Promise<Outcome> {
    this.#others += 1
    const done = this.#last.then(act).finally(() => (this.#others -= 1))
    this.#last = done.catch(() => undefined)
    return done
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  /** Ends what is at work; nothing is begun any more. */
  stop(): void {
    this.#isStopped = true
    this.shut()
  }

  /** Ends what is at work. */
  shut(): void {
    this.#atWork?.work.stop()
  }

  async #obey<Result>(told: AtWork, start: StartWork<Result>): Promise<Result> {
    if (this.#isStopped) throw new UserError('stopped', 'The daemon is stopping.', '')
    const work = start((progress) => {
      if (this.#atWork === null) return
      this.#atWork = { ...this.#atWork, told: { ...told, ...progress }, hasBegun: true }
      this.#onProgress(this.#atWork.told)
    })
    this.#atWork = { told, hasBegun: false, work }
    try {
      return await work.result
    } finally {
      this.#atWork = null
    }
  }
}
