import type { Worker } from 'node:worker_threads'
import { UserError } from '../../model/user-error.ts'
import { deferred, type Deferred } from '../deferred.ts'
import { stopped } from '../executor/executor.ts'
import type { Failure } from '../failure.ts'

/** A message from a thread: it is ready, what a step did, how an order ended. Orders end in their order. */
export type FromThread<Step> =
  | { readonly kind: 'open'; readonly opened: unknown }
  | { readonly kind: 'step'; readonly step: Step }
  | { readonly kind: 'done'; readonly outcome: unknown }
  | { readonly kind: 'failed'; readonly failure: Failure }

interface ThreadWorld<Step> {
  readonly mirrorPath: string
  /** Of the errors that are none of ours: what failed, as the beginning of a sentence, and the code of a thread that died. */
  readonly failed: string
  readonly diedCode: string
  readonly onStep: (step: Step) => void
  /** Is told of each failure: it may be damage. */
  readonly onError: (error: UserError) => void
}

/** A thread of ours, as the main thread sees it. */
export class OwnThread<Step> {
  /** Resolves when it is ready. @throws UserError if it cannot be */
  readonly opened: Promise<unknown>
  readonly #opened = deferred<unknown>()
  readonly #world: ThreadWorld<Step>
  readonly #orders: Deferred<unknown>[] = []
  #worker: Worker | null = null
  #exited: Promise<void> = Promise.resolve()
  #isStopping = false

  constructor(world: ThreadWorld<Step>) {
    this.#world = world
    this.opened = this.#opened.promise
    // Nobody may be waiting for it.
    this.opened.catch(() => undefined)
  }

  /** @param worker not used yet */
  run(worker: Worker): void {
    const { diedCode, onStep } = this.#world
    const die = (cause?: Error): void => {
      const message = cause?.message ?? `A thread ended unexpectedly (${diedCode}).`
      this.#fail(new UserError(diedCode, message, 'Restart the daemon.', { cause }))
      for (const order of this.#orders.splice(0)) order.reject(stopped())
    }
    worker.on('message', (message: FromThread<Step>) => {
      if (message.kind === 'open') this.#opened.resolve(message.opened)
      else if (message.kind === 'step') onStep(message.step)
      else if (message.kind === 'done') this.#orders.shift()?.resolve(message.outcome)
      else this.#fail(this.#errorOf(message.failure))
    })
    worker.on('error', die)
    const exited = deferred<void>()
    this.#exited = exited.promise
    worker.on('exit', () => {
      if (!this.#isStopping) die()
      exited.resolve()
    })
    this.#worker = worker
  }

  /** Sends an order, which is answered after those before. */
  async ask(order: unknown): Promise<unknown> {
    if (this.#isStopping) throw stopped()
    const done = deferred<unknown>()
    this.#orders.push(done)
    this.tell(order)
    return done.promise
  }

  /** Sends a message that has no answer. */
  tell(message: unknown): void {
    this.#worker?.postMessage(message)
  }

  /**
   * Ends the thread. What was not done is rejected with `stopped`.
   * @param withinMs what a longer step did not end is done again at the next start
   */
  async stop(withinMs?: number): Promise<void> {
    this.#isStopping = true
    this.tell('stop')
    const timer = withinMs === undefined ? undefined : setTimeout(() => void this.#worker?.terminate(), withinMs)
    await this.#exited
    clearTimeout(timer)
    this.#opened.reject(stopped())
    for (const order of this.#orders.splice(0)) order.reject(stopped())
  }

  #fail(error: UserError): void {
    if (!this.#isStopping) this.#world.onError(error)
    this.#opened.reject(error)
    this.#orders.shift()?.reject(error)
  }

  #errorOf({ code, message, hint, status, isForUser }: Failure): UserError {
    const { mirrorPath, failed } = this.#world
    if (isOfFullDisk(code)) return diskFull(mirrorPath)
    if (isForUser) return new UserError(code, message, hint, { status })
    return new UserError(code, `${failed}${message.replace(/\.$/, '')}.`, 'See the earlier lines of the log.')
  }
}

/** True for the codes of SQLite and the system for a full disk or an exceeded quota, and for our own. */
export const isOfFullDisk = (code: string): boolean =>
  /^(SQLITE_FULL|SQLITE_IOERR_SHMSIZE|ENOSPC|EDQUOT|disk-full)$/.test(code)

/** @param place the file or folder that could not be written */
export const diskFull = (place: string, cause?: unknown): UserError =>
  new UserError('disk-full', `The disk that holds ${place} is full.`, 'Make room and try again.', { cause })
