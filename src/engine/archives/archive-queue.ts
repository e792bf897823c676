import type { ArchiveHealth, Progress } from '../../api/http/schemas/archives.ts'
import { UserError } from '../../model/user-error.ts'
import { stopped, type RunOptions } from '../executor/executor.ts'

type AtWork = NonNullable<ArchiveHealth['atWork']>

const QUEUE_MAX = 20

/** Acts on the archive folder run one after the other. */
export class ArchiveQueue {
  readonly #onProgress: (atWork: AtWork) => void
  #atWork: AtWork | null = null
  #ending = new AbortController()
  #last: Promise<unknown> = Promise.resolve()
  /** How many acts run or wait, also others such as a purge. */
  #waiting = 0
  #isStopped = false

  constructor(onProgress: (atWork: AtWork) => void) {
    this.#onProgress = onProgress
  }

  get atWork(): AtWork | null {
    return this.#atWork
  }

  get isBusy(): boolean {
    return this.#waiting > 0
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  /** Null if no act on this run has reported its progress yet. */
  progressOf(run: string): Progress | null {
    if (this.#atWork?.name !== run || this.#atWork.total === 0) return null
    const { done, total } = this.#atWork
    return { done, total }
  }

  /** @throws UserError `archive-busy` at once if too many acts wait */
  enqueue<Result>(
    name: string,
    act: AtWork['act'],
    work: (options: Required<RunOptions>) => Promise<Result>,
  ): Promise<Result> {
    if (this.#waiting >= QUEUE_MAX) {
      throw new UserError('archive-busy', `${QUEUE_MAX} archive jobs are already waiting.`, 'Ask again later.')
    }
    return this.alone(async () => {
      if (this.#isStopped) throw stopped()
      this.#atWork = { name, act, done: 0, total: 0 }
      this.#ending = new AbortController()
      const onProgress = (progress: Progress): void => {
        this.#atWork = { name, act, ...progress }
        this.#onProgress(this.#atWork)
      }
      return work({ signal: this.#ending.signal, onProgress }).finally(() => (this.#atWork = null))
    })
  }

  /** Runs something while no act runs. New acts wait until it ends. */
  alone<Outcome>(act: () => Promise<Outcome>): Promise<Outcome> {
    this.#waiting += 1
    const done = this.#last.then(act).finally(() => (this.#waiting -= 1))
    this.#last = done.catch(() => undefined)
    return done
  }

  /** Ends the running act and starts no other. */
  stop(): void {
    this.#isStopped = true
    this.#ending.abort()
  }
}
