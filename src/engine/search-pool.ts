import type { ChildProcess } from 'node:child_process'
import type { Question, QuestionKind, Questions } from '../api/questions.ts'
import { mirrorDamaged } from '../mirror/maintenance/check-pages.ts'
import { UserError } from '../model/user-error.ts'
import { deferred, type Deferred } from './deferred.ts'
import type { SearchReply } from './search-messages.ts'
import { startChild } from './start-child.ts'

/**
 * Takes 50 MB off two awake processes; what a search makes is short-lived, and its collection is cheap. With
 * `--optimize-for-size` statistics take twice the CPU, and a process that has searched is no smaller.
 */
const FRUGAL = ['--max-semi-space-size=2']
/** At most this many questions are worked on at a time; further ones queue. */
const CHILDREN_MAX = 2
/** The same while another process, which counts tokens or archives, takes as much memory as one of these. */
const CHILDREN_MAX_SHARED = 1
const QUEUE_MAX = 1000
/** A child that had nothing to do for so long ends, and gives its memory back. */
const IDLE_MS = 60_000
/** What the first search of a process gets on top, for node to start. */
const START_MS = 2000
/** What a search has left to answer with what it found, once its own clock told it to stop. */
const ANSWER_MS = 250

interface Job {
  readonly question: Question
  readonly asked: Deferred<unknown>
}

interface Searcher {
  readonly child: ChildProcess
  job: Job | null
  /** True once it was killed; what it still says counts no more. */
  isEnding: boolean
  timer: NodeJS.Timeout
  /** True where it remembers what is to be forgotten: it ends with what it is at. */
  isOld: boolean
}

const stopped = (): UserError => new UserError('stopped', 'The daemon is stopping.', '')

/** Searches and reports in processes of their own, each killed when it does not answer by the deadline. */
export class SearchPool {
  readonly #mirrorPath: string
  readonly #deadlineMs: number
  readonly #searchers = new Set<Searcher>()
  /** All processes that have not ended, those that were told to among them, and when each has. */
  readonly #alive = new Map<ChildProcess, Promise<void>>()
  readonly #queue: Job[] = []
  readonly #onDamage: () => void
  /** How many others the memory is shared with. */
  #sharers = 0
  #isShut = false
  #isClosed = false

  /** @param onDamage hears of a search that failed because the mirror's file is damaged */
  constructor(mirrorPath: string, deadlineMs: number, onDamage: () => void = () => undefined) {
    this.#onDamage = onDamage
    this.#mirrorPath = mirrorPath
    this.#deadlineMs = deadlineMs
  }

  /** Resident memory is not known here; the processes are, for whoever asks the system. */
  get pids(): number[] {
    return [...this.#searchers].flatMap((searcher) => searcher.child.pid ?? [])
  }

  /** Whether anybody waits for an answer. */
  get isBusy(): boolean {
    return this.#queue.length > 0 || [...this.#searchers].some(({ job }) => job !== null)
  }

  /** @throws UserError `deadline` when the time ran out with nothing found, `search-busy` when too many wait */
  ask<Kind extends QuestionKind>(question: Question<Kind>): Promise<Questions[Kind]['answer']> {
    if (this.#isClosed) throw stopped()
    if (this.#queue.length >= QUEUE_MAX) {
      throw new UserError('search-busy', `${QUEUE_MAX} searches are waiting already.`, 'Ask again in a moment.')
    }
    const asked = deferred<unknown>()
    // Of two kinds and more TypeScript does not see that a question of one of them is a question.
    const job: Job = { question: question as Question, asked }
    this.#queue.push(job)
    this.#expireInQueue(job)
    this.#pump()
    // The child answers a question with an answer of its kind.
    return asked.promise as Promise<Questions[Kind]['answer']>
  }

  /** Waiting counts: whoever asked is told in time, though not one row was looked at. */
  #expireInQueue(job: Job): void {
    const timer = setTimeout(setImmediate, START_MS + this.#deadlineMs, () => {
      const place = this.#queue.indexOf(job)
      if (place < 0) return
      this.#queue.splice(place, 1)
      job.asked.reject(this.#tooLate())
    })
    timer.unref()
  }

  #tooLate(): UserError {
    const text = `The search did not answer within ${this.#deadlineMs} ms.`
    return new UserError('deadline', text, 'Narrow it with a filter, or raise search.deadlineMs.')
  }

  /** Ends every process, for the mirror's file is to be another; searches wait until `reopen`. */
  shut(): void {
    this.#isShut = true
    for (const searcher of this.#searchers) {
      // It is there until it has ended, maybe after `reopen`: nothing is given to it.
      searcher.isEnding = true
      searcher.child.kill('SIGKILL')
    }
  }

  reopen(): void {
    this.#isShut = false
    this.#pump()
  }

  /**
   * One search at a time while the daemon's memory goes elsewhere, for each time that this is said until `haveMemory` is.
   * A second process that is at work answers first, and ends.
   * @returns a promise that resolves once no more than one is there
   */
  async shareMemory(): Promise<void> {
    this.#sharers += 1
    for (const searcher of this.#searchers) this.#endIfTooMany(searcher)
    while (this.#alive.size > this.#childrenMax) await Promise.race(this.#alive.values())
  }

  /** Two at a time again, once all have said so. */
  haveMemory(): void {
    this.#sharers -= 1
    this.#pump()
  }

  get #childrenMax(): number {
    return this.#sharers > 0 ? CHILDREN_MAX_SHARED : CHILDREN_MAX
  }

  #endIfTooMany(searcher: Searcher): void {
    if (this.#searchers.size > this.#childrenMax && searcher.job === null && !searcher.isEnding) this.#dismiss(searcher)
  }

  /** Has what searches remember of the mirror forgotten: processes at rest end, the others when they have answered. */
  renew(): void {
    for (const searcher of this.#searchers) {
      if (searcher.job === null && !searcher.isEnding) this.#dismiss(searcher)
      else searcher.isOld = true
    }
  }

  /** @returns a promise that resolves once no process of it has the mirror open */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const { asked } of this.#queue.splice(0)) asked.reject(stopped())
    for (const child of this.#alive.keys()) child.kill('SIGKILL')
    await Promise.all(this.#alive.values())
  }

  #pump(): void {
    const job = this.#queue[0]
    if (job === undefined || this.#isShut) return
    const idle = [...this.#searchers].find((searcher) => searcher.job === null && !searcher.isEnding)
    if (idle === undefined && this.#searchers.size >= this.#childrenMax) return
    this.#queue.shift()
    if (idle === undefined) this.#give(this.#start(), job, START_MS)
    else this.#give(idle, job, 0)
    this.#pump()
  }

  #give(searcher: Searcher, job: Job, startMs: number): void {
    searcher.job = job
    clearTimeout(searcher.timer)
    // Where the daemon itself stood still the answer may lie there: what has come is read before an immediate.
    searcher.timer = setTimeout(setImmediate, startMs + this.#deadlineMs + ANSWER_MS, () => {
      if (searcher.job === job) this.#expire(searcher)
    })
    searcher.child.send({ question: job.question, deadlineMs: this.#deadlineMs })
  }

  #start(): Searcher {
    const child = startChild('search-child', [this.#mirrorPath], FRUGAL)
    const searcher: Searcher = {
      child,
      job: null,
      isEnding: false,
      timer: setTimeout(() => undefined, 0),
      isOld: false,
    }
    this.#searchers.add(searcher)
    this.#noteLife(child)
    child.on('message', (reply: SearchReply) => this.#finish(searcher, reply))
    child.on('error', () => this.#bury(searcher))
    child.on('exit', () => this.#bury(searcher))
    return searcher
  }

  #noteLife(child: ChildProcess): void {
    const ended = deferred<void>()
    this.#alive.set(child, ended.promise)
    const end = (): void => {
      this.#alive.delete(child)
      ended.resolve()
    }
    child.on('error', end)
    child.on('exit', end)
  }

  #finish(searcher: Searcher, reply: SearchReply): void {
    if (searcher.isEnding) return
    const { job } = searcher
    searcher.job = null
    clearTimeout(searcher.timer)
    if (searcher.isOld) this.#dismiss(searcher)
    else {
      searcher.timer = setTimeout(() => this.#dismiss(searcher), IDLE_MS)
      searcher.timer.unref()
    }
    if (reply.kind === 'answer') job?.asked.resolve(reply.answer)
    else {
      job?.asked.reject(failureOf(reply))
      if (reply.isDamage) this.#onDamage()
    }
    this.#endIfTooMany(searcher)
    this.#pump()
  }

  /** Out of the pool before it dies, so that no search is given to it meanwhile. */
  #dismiss(searcher: Searcher): void {
    this.#searchers.delete(searcher)
    searcher.child.kill()
  }

  #expire(searcher: Searcher): void {
    // An answer may be on its way already: whoever took it for the end of the job would give the dying another.
    searcher.isEnding = true
    searcher.job?.asked.reject(this.#tooLate())
    searcher.child.kill('SIGKILL')
  }

  #bury(searcher: Searcher): void {
    if (!this.#searchers.delete(searcher)) return
    clearTimeout(searcher.timer)
    searcher.job?.asked.reject(new UserError('search-died', 'The search process ended.', 'Ask again.'))
    this.#pump()
  }
}

const failureOf = ({ message, isDamage }: Extract<SearchReply, { kind: 'failed' }>): Error =>
  isDamage ? mirrorDamaged(message) : new Error(`a search failed: ${message}`)
