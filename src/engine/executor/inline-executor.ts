import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { noteIfDamaged } from '../../mirror/damage/clean-mark.ts'
import { openReader, type Mirror } from '../../mirror/open.ts'
import type { Job } from '../jobs/job.ts'
import { loadJob, type JobName, type Jobs } from '../jobs/jobs.ts'
import { stopped, type Executor, type RunOptions } from './executor.ts'
import { ForkedExecutor } from './forked-executor.ts'

/** Runs jobs in this process, for a command that works without a daemon. */
export class InlineExecutor implements Executor {
  readonly pids: readonly number[] = []
  readonly isSearching = false
  readonly #mirrorPath: string
  readonly #reader: () => Mirror
  #forked: ForkedExecutor | null = null

  /** @param reader the connection for questions. All of them come from the same command */
  constructor(mirrorPath: string, reader: () => Mirror) {
    this.#mirrorPath = mirrorPath
    this.#reader = reader
  }

  async run<Name extends JobName>(
    name: Name,
    input: Jobs[Name]['input'],
    options: RunOptions = {},
  ): Promise<Jobs[Name]['result']> {
    let own: Mirror | null = null
    const mirror = name === 'search' ? this.#reader : () => (own ??= openReader(this.#mirrorPath))
    try {
      // A purge opens the mirror's file as plain bytes. Closing it would drop the SQLite locks of this process.
      if (name === 'purge-search')
        return await (this.#forked ??= new ForkedExecutor(this.#mirrorPath)).run(name, input, options)
      // The input has the job's kind.
      const job = await loadJob[name]()
      return await runInSteps(job(input, { mirrorPath: this.#mirrorPath, mirror }), options)
    } catch (error) {
      throw noteIfDamaged(this.#mirrorPath, error)
    } finally {
      ;(own as Mirror | null)?.close()
    }
  }

  renew(): void {}

  async close(): Promise<void> {
    await this.#forked?.close()
  }
}

async function runInSteps<Result>(
  steps: ReturnType<Job<never, Result>>,
  { signal, onProgress }: RunOptions,
): Promise<Result> {
  for (;;) {
    if (signal?.aborted === true) {
      await steps.return(undefined)
      throw stopped()
    }
    const step = await steps.next()
    if (step.done === true) return step.value
    if (step.value !== undefined) onProgress?.(step.value)
    // Progress output can run between two steps.
    await yieldToOthers()
  }
}
