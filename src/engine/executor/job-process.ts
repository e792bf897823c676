import { fork, type ChildProcess } from 'node:child_process'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'
import { codeOf } from '../../mirror/damage/find-damage.ts'
import type { Progress } from '../../model/progress.ts'
import { UserError } from '../../model/user-error.ts'
import { realSurroundings } from '../../settings.ts'
import { deferred, type Deferred } from '../deferred.ts'
import type { Failure } from '../failure.ts'
import type { JobName, Jobs } from '../jobs/jobs.ts'

/** A message to a process that runs jobs. It gets one job at a time. */
export type JobOrder = { [Name in JobName]: { readonly name: Name; readonly input: Jobs[Name]['input'] } }[JobName]

/** A message from such a process: progress, and finally a result or a failure. */
export type JobReply =
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'failed'; readonly failure: Failure }

const errorOf = ({ message, code, hint, status, isForUser }: Failure, name: JobName): Error =>
  isForUser ? new UserError(code, message, hint, { status }) : new Error(`${name} failed: ${message}`)

/** @param code why the system refused to start the process; null if it ran */
function diedError(name: JobName, code: string | null): UserError {
  const subject = name === 'verify' ? 'archive' : name.replace(/^purge-.*/, 'purge')
  if (code !== null) {
    const text = `The ${subject} process could not be started (${code}).`
    const remedy = 'Ask again when the system has memory and processes to spare.'
    return new UserError(`${subject}-died`, text, `${remedy} If Node was removed, start the daemon again.`)
  }
  return new UserError(`${subject}-died`, `The ${subject} process ended unexpectedly.`, 'Try again.')
}

interface Running {
  readonly name: JobName
  readonly done: Deferred<unknown>
  readonly onProgress: (progress: Progress) => void
}

/**
 * A process that runs jobs on one mirror, one at a time. One for searches stays and has normal priority; any other has low
 * priority and ends with its job.
 */
export class JobProcess {
  /** Resolves when the process has ended. */
  readonly exited: Promise<void>
  /** Null if the system refused to start it. */
  #child: ChildProcess | null = null
  readonly #stays: boolean
  #running: Running | null = null
  #reply: JobReply | null = null
  #hasExited = false
  /** Why it could not be started. */
  #code: string | null = null

  /** @param kind the process list of the system shows this word */
  constructor(mirrorPath: string, kind: JobName) {
    this.#stays = kind === 'search'
    const exited = deferred<void>()
    this.exited = exited.promise
    const onExit = (): void => {
      this.#hasExited = true
      this.#settle()
      exited.resolve()
    }
    const onError = (error: unknown): void => {
      if (this.pid === null) this.#code ??= codeOf(error) || String(error)
      onExit()
    }
    const priority = this.#stays ? constants.priority.PRIORITY_NORMAL : constants.priority.PRIORITY_LOW
    try {
      this.#child = startChild([kind, mirrorPath, String(priority)])
      this.#child.on('message', (reply: JobReply) => this.#onReply(reply))
      this.#child.on('error', onError).on('exit', onExit)
    } catch (error) {
      // Node throws some errors of the system at once, and others become an event.
      onError(error)
    }
  }

  /** Null once it has ended. */
  get pid(): number | null {
    return this.#hasExited ? null : (this.#child?.pid ?? null)
  }

  /** The previous job must have ended. If the process ends with the job, the promise resolves when it has ended. */
  run<Name extends JobName>(
    name: Name,
    input: Jobs[Name]['input'],
    onProgress: Running['onProgress'] = () => undefined,
  ): Promise<Jobs[Name]['result']> {
    if (this.#hasExited) return Promise.reject(diedError(name, this.#code))
    const done = deferred<unknown>()
    this.#running = { name, done, onProgress }
    // Sent as a message, because other users of the machine can read arguments.
    this.#child?.send({ name, input })
    // The result has the job's kind.
    return done.promise
  }

  kill(): void {
    this.#child?.kill('SIGKILL')
  }

  #onReply(reply: JobReply): void {
    if (reply.kind === 'progress') return this.#running?.onProgress(reply.progress)
    this.#reply = reply
    if (this.#stays) this.#settle()
  }

  #settle(): void {
    const [running, reply] = [this.#running, this.#reply]
    this.#running = null
    this.#reply = null
    if (running === null) return
    const { name, done } = running
    if (reply?.kind === 'result') done.resolve(reply.result)
    else done.reject(reply?.kind === 'failed' ? errorOf(reply.failure, name) : diedError(name, this.#code))
  }
}

/** Objects of jobs are short-lived. With a small young generation a process takes 10 to 25 MB less and is not slower. */
const V8_FLAGS = ['--max-semi-space-size=2']

/** The process writes to our stderr. */
function startChild(args: readonly string[]): ChildProcess {
  const child = fork(fileURLToPath(new URL('../engine/job-child.js', import.meta.url)), args, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: V8_FLAGS,
    env: childEnvironment(),
  })
  // Without a free file descriptor Node gives the process no channel. Messages to it are then lost.
  if (!('send' in child)) Object.assign(child, { send: () => false })
  return child
}

/**
 * - Jobs use no network. Node 20 parses all certificates in the file of `NODE_EXTRA_CA_CERTS` at every start. If the file
 *   contains all certificates of a system, that takes longer than the start itself.
 * - glibc gives each thread its own memory arena and seldom frees one. With a single arena two search processes take 16
 *   to 21 MB less, and are as fast. Other systems ignore the variable.
 */
function childEnvironment(): NodeJS.ProcessEnv {
  const { NODE_EXTRA_CA_CERTS: _certificates, ...env } = realSurroundings().env
  return { MALLOC_ARENA_MAX: '1', ...env }
}
