import { Worker } from 'node:worker_threads'
import { UserError } from '../../model/user-error.ts'
import { stopped } from '../executor/executor.ts'
import { deferred, type Deferred } from '../deferred.ts'
import { errorOfThread, type ThreadFailure } from './writer.ts'

export type IndexOrder =
  /** The mirror changed, for the time with this number. */
  | { readonly act: 'nudge'; readonly num: number }
  /** These are answered one after the other. follow: merges also makes the tables small. */
  | { readonly act: 'follow'; readonly merges: boolean }
  | { readonly act: 'check'; readonly isThorough: boolean }
  | { readonly act: 'forget' }
  | { readonly act: 'stop' }

export type FromIndex =
  | ({ readonly kind: 'step' } & IndexStep)
  /** isGood: the outcome of a check, or of forgetting words. */
  | { readonly kind: 'done'; readonly isGood: boolean }
  | ThreadFailure

export interface IndexStep {
  /** The last nudge that it covers. */
  readonly upTo: number
  /** How many messages and titles wait. */
  readonly left: number
  /** How often the file was made anew: readers have to open it again. */
  readonly timesRenewed: number
}

/** The full-text index of the mirror, which follows it. */
export interface IndexWriter {
  /** Resolves when everything that the mirror has now is searchable. @throws UserError if the index cannot be written */
  follow(): Promise<void>
  /** Compares it with the mirror. If it is not sound, it is made anew. @returns whether it was sound */
  check(isThorough: boolean): Promise<boolean>
  /** Removes every trace of words that nothing has any more. @returns false if readers of the file held that up */
  forgetWords(): Promise<boolean>
}

/** Objects of the thread are short-lived. More makes it hardly faster, and costs memory. */
const YOUNG_MB_MAX = 24

/** How long a step may still take when the program stops. */
const STOP_MS = 1000

/** Starts the thread that writes the index of a mirror. */
export const startIndexThread = (mirrorPath: string): Worker =>
  new Worker(new URL('../engine/index-thread.js', import.meta.url), {
    workerData: mirrorPath,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB_MAX },
  })

/** The index on a thread of its own, as the other threads see it. */
export class ThreadIndex implements IndexWriter {
  readonly #onStep: (step: IndexStep) => void
  readonly #onError: (error: UserError) => void
  readonly #opened = deferred<void>()
  readonly #acts: Deferred<boolean>[] = []
  #worker: Worker | null = null
  #exited: Promise<void> = Promise.resolve()
  #mirrorPath = ''
  #nudges = 0
  #last: IndexStep | null = null
  #isStopping = false

  constructor(onStep: (step: IndexStep) => void, onError: (error: UserError) => void) {
    this.#onStep = onStep
    this.#onError = onError
    // Nobody may be waiting for it.
    this.#opened.promise.catch(() => undefined)
  }

  /**
   * Starts the thread. Call it when the mirror is there. While this process starts, another thread would slow it down.
   * Resolves when the index can be read.
   * @throws UserError
   */
  async open(mirrorPath: string, start = startIndexThread): Promise<void> {
    this.#mirrorPath = mirrorPath
    const worker = start(mirrorPath)
    worker.on('message', (message: FromIndex) => this.#onMessage(message))
    worker.on('error', (error) => this.#fail(died(error)))
    const exited = deferred<void>()
    this.#exited = exited.promise
    worker.on('exit', () => {
      if (!this.#isStopping) this.#fail(died())
      exited.resolve()
    })
    this.#worker = worker
    await this.#opened.promise
  }

  /** Whether nothing waits that it was told of. */
  get isCaughtUp(): boolean {
    return this.#last?.upTo === this.#nudges && this.#last.left === 0
  }

  /** The mirror changed. */
  nudge(): void {
    this.#nudges += 1
    this.#send({ act: 'nudge', num: this.#nudges })
  }

  /** @param merges true for a command, which ends then: the tables are made small at once, and not when nothing comes */
  async follow(merges = false): Promise<void> {
    this.nudge()
    await this.#act({ act: 'follow', merges })
  }

  check(isThorough: boolean): Promise<boolean> {
    return this.#act({ act: 'check', isThorough })
  }

  forgetWords(): Promise<boolean> {
    return this.#act({ act: 'forget' })
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    this.#send({ act: 'stop' })
    // What a long step did not end is done again at the next start.
    const timer = setTimeout(() => void this.#worker?.terminate(), STOP_MS)
    await this.#exited
    clearTimeout(timer)
    this.#reject(stopped())
  }

  #act(order: IndexOrder): Promise<boolean> {
    if (this.#isStopping) return Promise.reject(stopped())
    const done = deferred<boolean>()
    this.#acts.push(done)
    this.#send(order)
    return done.promise
  }

  #send(order: IndexOrder): void {
    this.#worker?.postMessage(order)
  }

  #onMessage(message: FromIndex): void {
    if (message.kind === 'failed')
      return this.#fail(errorOfThread(message, this.#mirrorPath, 'The full-text index cannot be written: '))
    if (message.kind === 'done') {
      this.#acts.shift()?.resolve(message.isGood)
      return
    }
    this.#last = message
    this.#opened.resolve()
    this.#onStep(message)
  }

  #fail(error: UserError): void {
    this.#reject(error)
    if (!this.#isStopping) this.#onError(error)
  }

  #reject(error: UserError): void {
    this.#opened.reject(error)
    for (const done of this.#acts.splice(0)) done.reject(error)
  }
}

const died = (cause?: Error): UserError =>
  new UserError('index-died', cause?.message ?? 'The thread of the full-text index ended.', 'Restart the daemon.', {
    cause,
  })
