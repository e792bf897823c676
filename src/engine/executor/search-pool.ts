import type { Question, QuestionKind, Questions } from '../../api/questions.ts'
import { UserError } from '../../model/user-error.ts'
import { deferred, type Deferred } from '../deferred.ts'
import { stopped } from './executor.ts'
import { JobProcess } from './job-process.ts'

/** How many questions are answered at the same time. Others wait. */
const PROCESSES_MAX = 2
const QUEUE_MAX = 1000
/** After this time an idle process ends and returns its memory. The last one is replaced. */
const IDLE_MS = 60_000
/** Extra time for the first question of a process, while Node starts. */
const START_MS = 2000

interface Waiting {
  readonly question: Question
  readonly deadlineMs: number
  readonly asked: Deferred<unknown>
}

interface Searcher {
  readonly process: JobProcess
  job: Waiting | null
  /** True once it was killed. Its answer no longer counts. */
  isEnding: boolean
  timer: NodeJS.Timeout
  /** True after `renew`. The process ends after its current question. */
  isOld: boolean
}

/** Search processes. After the first question there is always one. A process that does not answer by the deadline is killed. */
export class SearchPool {
  readonly #mirrorPath: string
  readonly #searchers = new Set<Searcher>()
  /** All processes that have not ended, including those that were killed just now. */
  readonly #alive = new Set<JobProcess>()
  readonly #queue: Waiting[] = []
  #isClosed = false

  constructor(mirrorPath: string) {
    this.#mirrorPath = mirrorPath
  }

  get pids(): number[] {
    return [...this.#searchers].flatMap(({ process }) => process.pid ?? [])
  }

  /** True while somebody waits for an answer. */
  get isBusy(): boolean {
    return this.#queue.length > 0 || [...this.#searchers].some(({ job }) => job !== null)
  }

  /**
   * @param deadlineMs milliseconds, the time in the queue included
   * @throws UserError `deadline` if the time ran out, `search-busy` if too many wait
   */
  ask<Kind extends QuestionKind>(question: Question<Kind>, deadlineMs: number): Promise<Questions[Kind]['answer']> {
    if (this.#isClosed) return Promise.reject(stopped())
    if (this.#queue.length >= QUEUE_MAX) {
      const text = `${QUEUE_MAX} searches are already waiting.`
      return Promise.reject(new UserError('search-busy', text, 'Ask again in a moment.'))
    }
    const asked = deferred<unknown>()
    // TypeScript does not see that a question of one kind is a question.
    const job: Waiting = { question: question as Question, deadlineMs, asked }
    this.#queue.push(job)
    this.#expireInQueue(job)
    this.#pump()
    // A process answers a question with an answer of its kind.
    return asked.promise as Promise<Questions[Kind]['answer']>
  }

  /** Time in the queue counts: the caller gets an answer in time, even if the search never started. */
  #expireInQueue(job: Waiting): void {
    const timer = setTimeout(setImmediate, START_MS + job.deadlineMs, () => {
      const place = this.#queue.indexOf(job)
      if (place < 0) return
      this.#queue.splice(place, 1)
      job.asked.reject(tooLate(job))
    })
    timer.unref()
  }

  /** Makes later searches forget what they know of the mirror: idle processes end now, busy ones after their answer. */
  renew(): void {
    for (const searcher of this.#searchers) {
      if (searcher.job === null && !searcher.isEnding) this.#dismiss(searcher)
      else searcher.isOld = true
    }
  }

  /** Resolves when none of its processes has the mirror open. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const { asked } of this.#queue.splice(0)) asked.reject(stopped())
    for (const process of this.#alive) process.kill()
    await Promise.all([...this.#alive].map(({ exited }) => exited))
  }

  #pump(): void {
    const job = this.#queue[0]
    if (job === undefined) return
    const idle = [...this.#searchers].find((searcher) => searcher.job === null && !searcher.isEnding)
    if (idle === undefined && this.#searchers.size >= PROCESSES_MAX) return
    this.#queue.shift()
    if (idle === undefined) this.#give(this.#start(), job, START_MS)
    else this.#give(idle, job, 0)
    this.#pump()
  }

  #give(searcher: Searcher, job: Waiting, startMs: number): void {
    searcher.job = job
    clearTimeout(searcher.timer)
    // If this process itself was blocked, the answer may already have arrived. An immediate lets it be read first.
    searcher.timer = setTimeout(setImmediate, startMs + job.deadlineMs, () => {
      if (searcher.job === job) this.#expire(searcher)
    })
    const { question, deadlineMs } = job
    searcher.process.run('search', { question, deadlineMs }).then(
      (answer) => this.#finish(searcher, () => job.asked.resolve(answer)),
      (error: Error) => this.#finish(searcher, () => job.asked.reject(error)),
    )
  }

  #start(): Searcher {
    const process = new JobProcess(this.#mirrorPath, { kind: 'search', isBackground: false })
    const timer = setTimeout(() => undefined, 0)
    const searcher: Searcher = { process, job: null, isEnding: false, timer, isOld: false }
    this.#searchers.add(searcher)
    this.#alive.add(process)
    void process.exited.finally(() => {
      this.#alive.delete(process)
      this.#remove(searcher)
    })
    return searcher
  }

  #finish(searcher: Searcher, settle: () => void): void {
    if (searcher.isEnding || searcher.process.pid === null) {
      // It failed because its process ended.
      settle()
      return
    }
    searcher.job = null
    clearTimeout(searcher.timer)
    if (searcher.isOld) this.#dismiss(searcher)
    else {
      searcher.timer = setTimeout(() => this.#rest(searcher), IDLE_MS)
      searcher.timer.unref()
    }
    settle()
    this.#pump()
  }

  /** Returns the memory of a process. One process stays, so that the next question does not wait for a start. */
  #rest(searcher: Searcher): void {
    this.#dismiss(searcher)
    if (this.#searchers.size === 0 && !this.#isClosed) this.#start().process.warmUp('search')
  }

  /** Removes the process from the pool before it ends, so that it gets no further question. */
  #dismiss(searcher: Searcher): void {
    this.#searchers.delete(searcher)
    searcher.process.kill()
  }

  #expire(searcher: Searcher): void {
    // Its answer may already be on the way. The answer is ignored, and the process gets no other question.
    searcher.isEnding = true
    if (searcher.job !== null) searcher.job.asked.reject(tooLate(searcher.job))
    searcher.process.kill()
  }

  #remove(searcher: Searcher): void {
    clearTimeout(searcher.timer)
    if (this.#searchers.delete(searcher)) this.#pump()
  }
}

function tooLate({ deadlineMs }: Waiting): UserError {
  const text = `The search did not answer within ${deadlineMs} ms.`
  return new UserError('deadline', text, 'Narrow it with a filter, or raise search.deadlineMs.')
}
