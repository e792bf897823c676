import { UserError } from '../../model/user-error.ts'
import { stopped, type RunOptions } from '../executor/executor.ts'
import type { Progress } from '../../api/http/schemas/archives.ts'
import type { ArchiveHealth } from '../../api/http/schemas/archives.ts'

type AtWork = NonNullable<ArchiveHealth['atWork']>
type Work<Result> = (options: Required<RunOptions>) => Promise<Result>

const QUEUE_MAX = 20

/** Acts on the archive folder run one after the other. */
export class ArchiveQueue {
  readonly #onProgress: (atWork: AtWork) => void
  #atWork: { state: AtWork; hasProgress: boolean; stop: AbortController } | null = null
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  /** How many other acts run or wait, such as a purge. */
  #others = 0
  #isStopped = false

  constructor(onProgress: (atWork: AtWork) => void) {
    this.#onProgress = onProgress
  }

  get atWork(): AtWork | null {
    return this.#atWork?.state ?? null
  }

  /** True while an act runs or waits. */
  get isBusy(): boolean {
    return this.#waiting > 0 || this.#others > 0
  }

  /** Null if no act on this run has reported its progress yet. */
  progressOf(name: string): Progress | null {
    if (this.#atWork?.state.name !== name || !this.#atWork.hasProgress) return null
    const { done, total } = this.#atWork.state
    return { done, total }
  }

  /** @throws UserError `archive-busy` at once if too many acts wait */
  enqueue<Result>(name: string, act: AtWork['act'], work: Work<Result>): Promise<Result> {
    if (this.#waiting >= QUEUE_MAX) {
      throw new UserError('archive-busy', `${QUEUE_MAX} archive jobs are already waiting.`, 'Ask again later.')
    }
    this.#waiting += 1
    const done = this.#last
      .then(() => this.#run({ name, act, done: 0, total: 0 }, work))
      .finally(() => (this.#waiting -= 1))
    this.#last = done.catch(() => undefined)
    return done
  }

  /** Runs something else while no act runs. New acts wait until it ends. */
  alone<Outcome>(act: () => Promise<Outcome>): Promise<Outcome> {
    this.#others += 1
    const done = this.#last.then(act).finally(() => (this.#others -= 1))
    this.#last = done.catch(() => undefined)
    return done
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  /** Ends the running act and starts no other. */
  stop(): void {
    this.#isStopped = true
    this.shut()
  }

  /** Ends the running act. */
  shut(): void {
    this.#atWork?.stop.abort()
  }

  async #run<Result>(state: AtWork, work: Work<Result>): Promise<Result> {
    if (this.#isStopped) throw stopped()
    const stop = new AbortController()
    const onProgress = (progress: Progress): void => {
      if (this.#atWork === null) return
      this.#atWork = { ...this.#atWork, state: { ...state, ...progress }, hasProgress: true }
      this.#onProgress(this.#atWork.state)
    }
    this.#atWork = { state, hasProgress: false, stop }
    try {
      return await work({ signal: stop.signal, onProgress })
    } finally {
      this.#atWork = null
    }
  }
}
