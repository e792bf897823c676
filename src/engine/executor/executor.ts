import type { Question } from '../../api/questions.ts'
import { indexDamaged, isDamage } from '../../mirror/damage/find-damage.ts'
import type { Mirror } from '../../mirror/open.ts'
import type { Progress } from '../../model/progress.ts'
import { UserError } from '../../model/user-error.ts'
import { deferred, type Deferred } from '../deferred.ts'
import { runJob, type JobName, type Jobs, type SearchInput } from '../jobs/jobs.ts'
import { JobProcess } from './job-process.ts'

export type OnProgress = (progress: Progress) => void

interface ExecutorOptions {
  /** For a command, which asks once: questions are answered in this process, from this connection. */
  readonly reader?: () => Mirror
  /** Is told when a job fails: the mirror may be damaged. @returns the error for who asked */
  readonly onError?: (error: unknown) => unknown
}

/** After this time an idle process ends and returns its memory. The last one is replaced. */
const IDLE_MS = 60_000
/** Extra time for the first question of a process, while Node starts. */
const START_MS = 2000

/** How many searches run at a time. */
const SEARCHES_MAX = 2

/**
 * Runs jobs in processes. Searches share two, of which one stays after the first question. A process that does not answer
 * by the deadline is killed. Every other job has a process of its own.
 */
export class Executor {
  readonly #mirrorPath: string
  readonly #reader: ExecutorOptions['reader']
  readonly #onError: (error: unknown) => unknown
  /** All processes that have not ended, including those that were killed just now. */
  readonly #alive = new Set<JobProcess>()
  /** Processes for searches that have none now, with what ends each. The one that was used last is the last. */
  readonly #idle = new Map<JobProcess, NodeJS.Timeout | undefined>()
  readonly #waiting: Deferred<void>[] = []
  #searching = 0
  #timesRenewed = 0
  #isClosed = false

  constructor(mirrorPath: string, { reader, onError = (error) => error }: ExecutorOptions = {}) {
    this.#mirrorPath = mirrorPath
    this.#reader = reader
    this.#onError = onError
  }

  /** Processes whose memory counts as the daemon's. */
  get pids(): readonly number[] {
    return [...this.#alive].flatMap(({ pid }) => pid ?? [])
  }

  /**
   * @throws UserError of the job; `stopped` after `close`; `mirror-damaged`; a code that ends in `-died` if its process
   *   ended unexpectedly; `deadline` for searches
   */
  async run<Name extends JobName>(
    name: Name,
    input: Jobs[Name]['input'],
    onProgress: OnProgress = () => undefined,
  ): Promise<Jobs[Name]['result']> {
    if (this.#isClosed) throw stopped()
    const [mirrorPath, reader] = [this.#mirrorPath, this.#reader]
    // TypeScript does not see that the name determines the type of the input.
    const search = name === 'search' ? (input as SearchInput) : null
    try {
      if (search === null) return await this.#start(name).run(name, input, onProgress)
      if (reader === undefined) return await this.#ask(search)
      return await runJob('search', search, { mirrorPath, mirror: reader, onProgress })
    } catch (error) {
      if (this.#isClosed) throw stopped()
      const told = this.#onError(error)
      throw search === null || reader !== undefined ? told : explainSearch(search.question, told)
    }
  }

  #start(kind: JobName): JobProcess {
    const process = new JobProcess(this.#mirrorPath, kind)
    this.#alive.add(process)
    void process.exited.finally(() => {
      this.#alive.delete(process)
      this.#take(process)
    })
    return process
  }

  /** Makes later searches forget what they remember of the mirror: idle processes end now, busy ones after their answer. */
  renew(): void {
    this.#timesRenewed += 1
    for (const process of this.#idle.keys()) {
      this.#take(process)
      process.kill()
    }
  }

  /** Resolves when no job has the mirror open. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const waiting of this.#waiting.splice(0)) waiting.reject(stopped())
    for (const timer of this.#idle.values()) clearTimeout(timer)
    for (const process of this.#alive) process.kill()
    await Promise.all([...this.#alive].map(({ exited }) => exited))
  }

  async #ask(input: SearchInput): Promise<unknown> {
    if (this.#searching < SEARCHES_MAX) this.#searching += 1
    else await this.#place(input)
    const known = [...this.#idle.keys()].at(-1)
    const process = known ?? this.#start('search')
    this.#take(process)
    const renewedBefore = this.#timesRenewed
    let [isLate, isDone] = [false, false]
    // If this process itself was blocked, the answer may already have arrived. An immediate lets it be read first.
    const limit = setTimeout(setImmediate, input.deadlineMs + (known === undefined ? START_MS : 0), () => {
      isLate = !isDone
      if (isLate) process.kill()
    })
    try {
      return await process.run('search', input)
    } catch (error) {
      throw isLate ? tooLate(input) : error
    } finally {
      isDone = true
      clearTimeout(limit)
      if (isLate || renewedBefore !== this.#timesRenewed) process.kill()
      else if (process.pid !== null) this.#idle.set(process, setTimeout(() => this.#end(process), IDLE_MS).unref())
      const next = this.#waiting.shift()
      if (next === undefined) this.#searching -= 1
      else next.resolve()
    }
  }

  /** The place of a search that ends. Time in the queue counts: the caller gets an answer in time, even if it never starts. */
  #place(input: SearchInput): Promise<void> {
    const waiting = deferred<void>()
    this.#waiting.push(waiting)
    const timer = setTimeout(setImmediate, START_MS + input.deadlineMs, () => {
      const place = this.#waiting.indexOf(waiting)
      if (place < 0) return
      this.#waiting.splice(place, 1)
      waiting.reject(tooLate(input))
    })
    return waiting.promise.finally(() => clearTimeout(timer))
  }

  /** The process is no longer idle. */
  #take(process: JobProcess): void {
    clearTimeout(this.#idle.get(process))
    this.#idle.delete(process)
  }

  /** Returns the memory of a process. One process stays, so that the next question does not wait for a start. */
  #end(process: JobProcess): void {
    this.#take(process)
    process.kill()
    if (!this.#isClosed && this.#idle.size + this.#searching === 0) this.#idle.set(this.#start('search'), undefined)
  }
}

export const stopped = (): UserError => new UserError('stopped', 'The daemon is stopping.', 'Start it again.')

function tooLate({ deadlineMs }: SearchInput): UserError {
  const text = `The search did not answer within ${deadlineMs} ms.`
  return new UserError('deadline', text, 'Narrow it with a filter, or raise search.deadlineMs.')
}

/** What a person reads who asked. If the index is damaged, it is made anew meanwhile; if the mirror is, the daemon ends. */
const explainSearch = ({ kind }: Question, error: unknown): unknown =>
  isDamage(error) && (kind === 'search' || kind === 'suggest') ? indexDamaged(error) : error
