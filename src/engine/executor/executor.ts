import type { Question } from '../../api/questions.ts'
import { indexDamaged, isDamage } from '../../mirror/damage/find-damage.ts'
import type { Mirror } from '../../mirror/open.ts'
import type { Progress } from '../../model/progress.ts'
import { UserError } from '../../model/user-error.ts'
import { deferred, type Deferred } from '../deferred.ts'
import { runJob, type JobName, type Jobs, type SearchInput } from '../jobs/jobs.ts'
import { JobProcess } from './job-process.ts'

export interface RunOptions {
  /** Ends the job. Its promise then rejects. */
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: Progress) => void
}

interface ExecutorOptions {
  /** For a command, which asks once: questions are answered in this process, from this connection. */
  readonly reader?: () => Mirror
  /** Is told when a job fails: the mirror may be damaged. @returns the error for who asked */
  readonly onError?: (error: unknown) => unknown
}

/** How many questions are answered at the same time. Others wait. */
const PROCESSES_MAX = 2
const QUEUE_MAX = 1000
/** After this time an idle process ends and returns its memory. The last one is replaced. */
const IDLE_MS = 60_000
/** Extra time for the first question of a process, while Node starts. */
const START_MS = 2000
/** Extra time after a search's own deadline, to return what it found. */
const ANSWER_MS = 250

interface Asked extends SearchInput {
  readonly done: Deferred<unknown>
  timer: NodeJS.Timeout
}

interface Searcher {
  readonly process: JobProcess
  asked: Asked | null
  /** When it is idle, until it ends. */
  timer: NodeJS.Timeout | undefined
  /** True once it gets no other question: it was killed, or remembers what it must forget. */
  isEnding: boolean
}

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
  readonly #searchers = new Set<Searcher>()
  readonly #queue: Asked[] = []
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
   *   ended unexpectedly; `deadline` and `search-busy` for searches
   */
  async run<Name extends JobName>(
    name: Name,
    input: Jobs[Name]['input'],
    { signal, onProgress }: RunOptions = {},
  ): Promise<Jobs[Name]['result']> {
    if (this.#isClosed || signal?.aborted === true) throw stopped()
    const [mirrorPath, reader] = [this.#mirrorPath, this.#reader]
    // TypeScript does not see that the name determines the type of the input.
    const search = name === 'search' ? (input as SearchInput) : null
    try {
      if (search === null) return await this.#runOnce(this.#start(name), name, input, { signal, onProgress })
      if (reader === undefined) return await this.#ask(search)
      return await runJob('search', search, { mirrorPath, mirror: reader }, () => undefined)
    } catch (error) {
      const told = this.#onError(error)
      throw search === null || reader !== undefined ? told : explainSearch(search.question, told)
    }
  }

  async #runOnce<Name extends JobName>(
    process: JobProcess,
    name: Name,
    input: Jobs[Name]['input'],
    { signal, onProgress }: { [Key in keyof RunOptions]: RunOptions[Key] | undefined },
  ): Promise<Jobs[Name]['result']> {
    const stop = (): void => process.kill()
    signal?.addEventListener('abort', stop)
    return process.run(name, input, onProgress).finally(() => signal?.removeEventListener('abort', stop))
  }

  #start(kind: JobName): JobProcess {
    const process = new JobProcess(this.#mirrorPath, kind)
    this.#alive.add(process)
    void process.exited.then(() => this.#alive.delete(process))
    return process
  }

  /** Makes later searches forget what they remember of the mirror: idle processes end now, busy ones after their answer. */
  renew(): void {
    for (const searcher of this.#searchers) this.#dismiss(searcher)
  }

  /** Resolves when no job has the mirror open. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const { done, timer } of this.#queue.splice(0)) {
      clearTimeout(timer)
      done.reject(stopped())
    }
    for (const process of this.#alive) process.kill()
    await Promise.all([...this.#alive].map(({ exited }) => exited))
  }

  #ask({ question, deadlineMs }: SearchInput): Promise<unknown> {
    if (this.#queue.length >= QUEUE_MAX) {
      throw new UserError('search-busy', `${QUEUE_MAX} searches are already waiting.`, 'Ask again in a moment.')
    }
    const asked: Asked = { question, deadlineMs, done: deferred(), timer: setTimeout(() => undefined, 0) }
    this.#queue.push(asked)
    // Time in the queue counts: the caller gets an answer in time, even if the search never starts.
    this.#limit(asked, START_MS, () => {
      const place = this.#queue.indexOf(asked)
      return place >= 0 && this.#queue.splice(place, 1).length > 0
    })
    this.#pump()
    return asked.done.promise
  }

  /**
   * Rejects the question when its time, and so many milliseconds more, have passed.
   * @param stop stops its work. Returns false if that came too late
   */
  #limit(asked: Asked, moreMs: number, stop: () => boolean): void {
    clearTimeout(asked.timer)
    // If this process itself was blocked, the answer may already have arrived. An immediate lets it be read first.
    asked.timer = setTimeout(setImmediate, asked.deadlineMs + moreMs, () => {
      if (stop()) asked.done.reject(tooLate(asked))
    })
  }

  /** Gives waiting questions to idle processes, and to new ones. */
  #pump(): void {
    for (let [asked] = this.#queue; asked !== undefined; [asked] = this.#queue) {
      const idle = [...this.#searchers].find(({ asked: other }) => other === null)
      if (idle === undefined && this.#searchers.size >= PROCESSES_MAX) return
      this.#queue.shift()
      void this.#give(idle ?? this.#startSearcher(), asked, idle === undefined ? START_MS : 0)
    }
  }

  async #give(searcher: Searcher, asked: Asked, startMs: number): Promise<void> {
    const { question, deadlineMs, done } = asked
    searcher.asked = asked
    clearTimeout(searcher.timer)
    this.#limit(asked, startMs + ANSWER_MS, () => {
      if (searcher.asked !== asked) return false
      searcher.isEnding = true
      searcher.process.kill()
      return true
    })
    const settle = await searcher.process.run('search', { question, deadlineMs }).then(
      (answer) => () => done.resolve(answer),
      (error: Error) => () => done.reject(error),
    )
    clearTimeout(asked.timer)
    searcher.asked = null
    if (searcher.isEnding || searcher.process.pid === null) this.#dismiss(searcher)
    else searcher.timer = setTimeout(() => this.#rest(searcher), IDLE_MS).unref()
    settle()
    this.#pump()
  }

  #startSearcher(): Searcher {
    const searcher: Searcher = { process: this.#start('search'), asked: null, timer: undefined, isEnding: false }
    this.#searchers.add(searcher)
    void searcher.process.exited.then(() => {
      clearTimeout(searcher.timer)
      this.#searchers.delete(searcher)
      if (!this.#isClosed) this.#pump()
    })
    return searcher
  }

  /** Returns the memory of a process. One process stays, so that the next question does not wait for a start. */
  #rest(searcher: Searcher): void {
    this.#dismiss(searcher)
    if (this.#searchers.size === 0 && !this.#isClosed) this.#startSearcher()
  }

  /** Ends a process, if it is busy after its answer. It gets no further question. */
  #dismiss(searcher: Searcher): void {
    searcher.isEnding = true
    if (searcher.asked !== null) return
    clearTimeout(searcher.timer)
    this.#searchers.delete(searcher)
    searcher.process.kill()
  }
}

export const stopped = (): UserError => new UserError('stopped', 'The daemon is stopping.', 'Start it again.')

function tooLate({ deadlineMs }: Asked): UserError {
  const text = `The search did not answer within ${deadlineMs} ms.`
  return new UserError('deadline', text, 'Narrow it with a filter, or raise search.deadlineMs.')
}

/** What a person reads who asked. If the index is damaged, it is made anew meanwhile; if the mirror is, the daemon ends. */
const explainSearch = ({ kind }: Question, error: unknown): unknown =>
  isDamage(error) && (kind === 'search' || kind === 'suggest') ? indexDamaged(error) : error
