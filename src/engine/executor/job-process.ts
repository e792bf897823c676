import type { ChildProcess } from 'node:child_process'
import { constants } from 'node:os'
import { deferred, type Deferred } from '../deferred.ts'
import type { JobName, Jobs } from '../jobs/jobs.ts'
import { startChild } from '../start-child.ts'
import { diedError, errorOf, type ChildOrder, type JobReply, type RunOptions } from './executor.ts'

interface ProcessOptions {
  /** The process list of the system shows this word. A search process has a larger page cache. */
  readonly kind: JobName
  /** True for a process that runs one job and ends. */
  readonly isOnce?: boolean
  /** True to run with low priority. */
  readonly isBackground?: boolean
}

interface Running {
  readonly name: JobName
  readonly done: Deferred<unknown>
  readonly onProgress: RunOptions['onProgress']
}

/** A process that runs jobs, one at a time, on one mirror. */
export class JobProcess {
  /** Resolves when the process has ended. */
  readonly exited: Promise<void>
  /** Null if the system refused to start it. */
  readonly #child: ChildProcess | null
  readonly #isOnce: boolean
  #running: Running | null = null
  #reply: JobReply | null = null
  #hasExited = false
  /** Why it could not be started. */
  #code: string | null = null

  constructor(mirrorPath: string, { kind, isOnce = false, isBackground = true }: ProcessOptions) {
    this.#isOnce = isOnce
    const priority = isBackground ? constants.priority.PRIORITY_LOW : constants.priority.PRIORITY_NORMAL
    const exited = deferred<void>()
    this.exited = exited.promise
    const onExit = (): void => {
      this.#hasExited = true
      this.#settle()
      exited.resolve()
    }
    const onError = (error: unknown): void => {
      if (this.pid === null)
        this.#code ??= error instanceof Error && 'code' in error ? String(error.code) : String(error)
      onExit()
    }
    this.#child = startOr(onError, [kind, mirrorPath, String(priority), isOnce ? 'once' : 'more'])
    this.#child?.on('message', (reply: JobReply) => this.#onReply(reply))
    this.#child?.on('error', onError)
    this.#child?.on('exit', onExit)
  }

  /** Null once it has ended. */
  get pid(): number | null {
    return this.#hasExited ? null : (this.#child?.pid ?? null)
  }

  /** The previous job must have ended. For a process that runs once, the promise resolves when the process has ended. */
  run<Name extends JobName>(
    name: Name,
    input: Jobs[Name]['input'],
    onProgress?: RunOptions['onProgress'],
  ): Promise<Jobs[Name]['result']> {
    if (this.#hasExited) return Promise.reject(diedError(name, this.#code))
    const done = deferred<unknown>()
    this.#running = { name, done, onProgress }
    // Sent as a message, because other users of the machine can read arguments.
    this.#child?.send({ name, input })
    // The result has the job's kind.
    return done.promise
  }

  /** Loads the code of a job and opens the mirror, before a job is there. */
  warmUp(job: JobName): void {
    if (!this.#hasExited) this.#child?.send({ name: 'prepare', job } satisfies ChildOrder)
  }

  kill(): void {
    this.#child?.kill('SIGKILL')
  }

  #onReply(reply: JobReply): void {
    if (reply.kind === 'progress') {
      this.#running?.onProgress?.(reply.progress)
      return
    }
    this.#reply = reply
    if (!this.#isOnce) this.#settle()
  }

  #settle(): void {
    const [running, reply] = [this.#running, this.#reply]
    this.#running = null
    this.#reply = null
    if (running === null) return
    if (reply?.kind === 'result') running.done.resolve(reply.result)
    else
      running.done.reject(
        reply?.kind === 'failed' ? errorOf(reply.failure, running.name) : diedError(running.name, this.#code),
      )
  }
}

/** Node throws some errors of the system at once, and others become an event. */
function startOr(onError: (error: unknown) => void, args: readonly string[]): ChildProcess | null {
  try {
    return startChild(args)
  } catch (error) {
    onError(error)
    return null
  }
}
