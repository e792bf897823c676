import type { JobName, Jobs } from '../jobs/jobs.ts'
import { stopped, type Executor, type RunOptions } from './executor.ts'
import { explainSearch } from './executor.ts'
import { JobProcess } from './job-process.ts'
import { SearchPool } from './search-pool.ts'

/**
 * Runs jobs in separate processes. Searches share two warm processes. Every other job gets a process that ends with the
 * job.
 */
export class ForkedExecutor implements Executor {
  readonly #mirrorPath: string
  readonly #onError: (error: unknown) => void
  readonly #searches: SearchPool
  readonly #jobs = new Set<JobProcess>()
  #isClosed = false

  /** @param onError is called when a job fails, whoever handles the error: the mirror may be damaged */
  constructor(mirrorPath: string, onError: (error: unknown) => void = () => undefined) {
    this.#mirrorPath = mirrorPath
    this.#onError = onError
    this.#searches = new SearchPool(mirrorPath)
  }

  get pids(): readonly number[] {
    return [...this.#searches.pids, ...[...this.#jobs].flatMap(({ pid }) => pid ?? [])]
  }

  get isSearching(): boolean {
    return this.#searches.isBusy
  }

  async run<Name extends JobName>(
    name: Name,
    input: Jobs[Name]['input'],
    options: RunOptions = {},
  ): Promise<Jobs[Name]['result']> {
    if (this.#isClosed || options.signal?.aborted === true) throw stopped()
    try {
      if (name !== 'search') return await this.#runOnce(name, input, options)
      // TypeScript does not see that the name determines the type of the input.
      const { question, deadlineMs } = input as Jobs['search']['input']
      return await this.#searches.ask(question, deadlineMs)
    } catch (error) {
      this.#onError(error)
      throw name === 'search' ? explainSearch(input as Jobs['search']['input'], error) : error
    }
  }

  async #runOnce<Name extends JobName>(
    name: Name,
    input: Jobs[Name]['input'],
    { signal, onProgress }: RunOptions,
  ): Promise<Jobs[Name]['result']> {
    if (this.#isClosed || signal?.aborted === true) throw stopped()
    const process = this.#start(name)
    const stop = (): void => process.kill()
    signal?.addEventListener('abort', stop)
    try {
      return await process.run(name, input, onProgress)
    } finally {
      signal?.removeEventListener('abort', stop)
    }
  }

  #start(kind: JobName): JobProcess {
    const process = new JobProcess(this.#mirrorPath, { kind, isOnce: true })
    this.#jobs.add(process)
    void process.exited.then(() => this.#jobs.delete(process))
    return process
  }

  renew(): void {
    this.#searches.renew()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const process of this.#jobs) process.kill()
    await Promise.all([this.#searches.close(), ...[...this.#jobs].map(({ exited }) => exited)])
  }
}
