import { existsSync } from 'node:fs'
import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { leaveMark } from '../../mirror/damage/clean-mark.ts'
import { INDEX_DAMAGED, isDamage, mirrorDamaged } from '../../mirror/damage/find-damage.ts'
import type { SalvageNotice } from '../../mirror/damage/replace-mirror.ts'
import type { PassStep } from '../../indexer/source.ts'
import type { PassOrder } from '../../model/pass.ts'
import { UserError } from '../../model/user-error.ts'
import { stopped } from '../../engine/executor/executor.ts'
import { deferred } from '../../engine/deferred.ts'
import { threadIndex, type IndexStep, type ThreadIndex } from '../../engine/writer/thread-index.ts'
import { threadWriter, type RunOutcome, type ThreadWriter, type WriterSetup } from '../../engine/writer/writer.ts'
import { isOfFullDisk } from '../../engine/writer/own-thread.ts'
import type { Logger } from '../lifecycle/log.ts'
import { Follow, openWatch } from './follow.ts'
import { sourceReasons } from '../../engine/source-reasons.ts'
import { Metrics } from './metrics.ts'
import type { DaemonState } from '../../api/answers/status.ts'
import type { DaemonEvent } from '../../api/context.ts'
import type { Written } from '../../model/change.ts'

const DAY_MS = 86_400_000
const RETRY_MS = 30_000
/** So long after the index was made anew, an error of a search may come from the former one. */
const RENEWED_MS = 10_000
/** How long the request that met damage has for its answer. Then the daemon ends. */
const ANSWER_MS = 500
/** The backlog of a first pass is indexed in runs of this length. New messages are read between two runs. */
const BACKLOG_MS = 200

interface IndexingContext {
  readonly log: Logger
  readonly hub: EventHub
  /** Makes readers open the files of the mirror again. */
  readonly renewReaders: () => void
}

/** The indexing half of the daemon: it monitors sources, schedules passes and drives the writer's thread. */
export class Indexing {
  readonly metrics: Metrics
  readonly #context: IndexingContext
  /** Ends every timer. */
  readonly #ending = new AbortController()
  readonly writer: ThreadWriter
  readonly index: ThreadIndex
  readonly follow: Follow
  readonly #watch = openWatch((error) => this.follow.onWatchError(error))
  readonly #setup: WriterSetup
  /** Rejects with UserError `mirror-damaged` if an error means that. Never resolves. The next start makes a new mirror. */
  readonly damaged: Promise<never>
  readonly #damaged = deferred<never>()
  /** What happened to damaged mirrors whose files are still there. */
  #notices: readonly SalvageNotice[] = []
  /** Why the last run failed. */
  #error: UserError | null = null
  /** How many chats wait to be counted or placed. */
  #deferred = 0
  /** Why the index cannot be written. */
  #indexError: UserError | null = null
  #timesRenewed = 0
  #renewedAtMs = -Infinity
  #isChecking = false
  /** True from a failed run until `#resume`. */
  #isBlocked = false
  #isRunning = false
  /** The orders of failed runs, for `#resume`. */
  readonly #missed: PassOrder[] = []
  #hasStarted = false
  #wasReady = false
  #lastState: DaemonState = 'starting'

  constructor(thread: Worker, setup: WriterSetup, context: IndexingContext) {
    this.#context = context
    this.#setup = setup
    this.metrics = new Metrics(Date.now)
    this.writer = threadWriter(
      thread,
      setup,
      (step) => this.#onStep(step),
      (error) => this.onError(error),
    )
    this.index = threadIndex(
      setup.mirrorPath,
      (step) => this.#onIndexStep(step),
      (error) => this.#onIndexError(error),
    )
    this.follow = new Follow(setup, {
      now: Date.now,
      later: (act, delayMs) => this.later(act, delayMs),
      run: (orders) => this.#run(orders),
      hasMore: () => this.#deferred > 0 && !this.#isBlocked,
      watch: (folder, onEvent) => this.#watch.watch(folder, onEvent),
      warn: (sentence) => context.log.warn(sentence),
    })
    this.damaged = this.#damaged.promise
    // Nobody may be listening after a stop.
    this.damaged.catch(() => undefined)
    setMaxListeners(Infinity, this.#ending.signal)
  }

  /**
   * Starts to monitor the sources, when the mirror can be read. Reading begins before anybody can ask.
   * @throws UserError if the mirror or its index cannot be opened: a damaged index fails every search
   */
  async start(): Promise<void> {
    const { news, notices } = await this.writer.opened
    this.#notices = notices
    if (news !== null) this.#context.log.warn(news)
    const opened = this.index.open()
    this.follow.start()
    this.#hasStarted = true
    await opened
    // Damage may give no error: a word whose rows are gone is silently not found.
    this.every(() => void this.index.check(false).catch(() => undefined), DAY_MS)
  }

  /** Every error of a reader comes here. If the index is damaged, it is made anew; if it is not, the mirror is. */
  onReaderError(error: unknown): void {
    const isOfIndex = error instanceof UserError && error.code === INDEX_DAMAGED
    if (this.#isChecking || !(isOfIndex || isDamage(error))) return
    void this.#findDamage(error, isOfIndex)
  }

  async #findDamage(error: unknown, isOfIndex: boolean): Promise<void> {
    this.#isChecking = true
    const metAtMs = performance.now()
    try {
      const isSound = await this.index.check(true)
      if (!isSound) this.#renewedAtMs = performance.now()
      // A search that began before may have met the former index, also if that was replaced only now.
      else if (isOfIndex || metAtMs - this.#renewedAtMs < RENEWED_MS) this.#context.renewReaders()
      else this.onError(error)
    } catch {
      // The thread of the index reported it.
    } finally {
      this.#isChecking = false
    }
  }

  /** Every error of the writer comes here. After one that means damage the daemon ends. */
  onError(error: unknown): void {
    if (!(error instanceof Error) || !isDamage(error)) return
    this.#isBlocked = true
    // At once: the end may be forced.
    leaveMark(this.#setup.mirrorPath, 'damaged')
    const known = error instanceof UserError ? error : mirrorDamaged(error.message)
    this.later(() => this.#damaged.reject(known), ANSWER_MS)
  }

  /** Passes over all sources now. Resolves when all of it is searchable. */
  async readAll(order: Omit<PassOrder, 'id'>): Promise<Pick<RunOutcome, 'changed' | 'added' | 'gone' | 'ends'>> {
    const outcome = await this.follow.readAll(order)
    if (outcome === null) return { changed: 0, added: 0, gone: 0, ends: [] }
    while (this.#deferred > 0) {
      if (this.#error !== null) throw this.#error
      if (this.#ending.signal.aborted) throw stopped()
      await sleep(BACKLOG_MS)
    }
    await this.index.follow()
    return outcome
  }

  get state(): DaemonState {
    if (this.#errors.length > 0) return 'degraded'
    if (!this.#hasStarted) return 'starting'
    return this.follow.isUpToDate && this.#isSearchable ? 'ready' : 'indexing'
  }

  /** Why the mirror is not complete, as sentences, and what was done about damage. */
  get reasons(): string[] {
    return [...this.#errors, ...this.#notices.filter(({ path }) => existsSync(path)).map(({ text }) => text)]
  }

  get #errors(): string[] {
    const errors = [this.#error, this.#indexError].flatMap((error) =>
      error === null ? [] : `${error.code}: ${error.message}`,
    )
    return [...new Set(errors), ...sourceReasons(this.follow.ends)]
  }

  /** Whether everything that the mirror has can be found. */
  get #isSearchable(): boolean {
    return this.#deferred === 0 && this.index.isCaughtUp
  }

  /** Runs `act` after a delay, unless the daemon was stopped. */
  later(act: () => void, delayMs: number): void {
    void sleep(delayMs, act, { signal: this.#ending.signal }).then(
      (due) => due(),
      () => undefined,
    )
  }

  /** Runs `act` again and again, until the daemon is stopped. */
  every(act: () => void, intervalMs: number): void {
    this.later(() => {
      this.every(act, intervalMs)
      act()
    }, intervalMs)
  }

  /** Starts nothing any more. */
  pause(): void {
    this.follow.stop()
    this.#ending.abort()
  }

  async stop(): Promise<void> {
    this.pause()
    await Promise.all([this.#watch.close(), this.index.stop()])
    await this.writer.stop()
  }

  async #run(orders: readonly PassOrder[]): Promise<RunOutcome> {
    this.metrics.beginRun()
    this.#isRunning = true
    this.#publishState()
    try {
      const outcome = await this.writer.act('run', { sources: orders, backlogMs: BACKLOG_MS })
      this.#error = null
      this.#deferred = outcome.backlog
      const { changed, added, gone } = outcome
      if (changed + added + gone > 0) this.#context.log.debug({ changed, added, gone }, 'pass done')
      return outcome
    } catch (error) {
      this.#onRunError(error, orders)
      throw error
    } finally {
      this.#isRunning = false
      this.index.nudge()
      // The source still counts as unread. A moment later it does not.
      this.later(() => this.#publishState(), 1)
    }
  }

  #onIndexStep({ left, timesRenewed }: IndexStep): void {
    if (timesRenewed > this.#timesRenewed) {
      this.#context.log.warn('The full-text index was damaged or missing. It is made anew from the mirror.')
      this.#renewedAtMs = performance.now()
      this.#context.renewReaders()
    }
    this.#timesRenewed = timesRenewed
    this.#indexError = null
    if (this.#isRunning) return
    if (left + this.#deferred > 0) this.metrics.noteBacklog(left + this.#deferred)
    else this.metrics.endJob()
    this.#publishState()
  }

  #onIndexError(error: UserError): void {
    if (isDamage(error)) return this.onError(error)
    if (this.#indexError?.code !== error.code) logError(this.#context.log, error)
    this.#indexError = error
    this.later(() => this.index.nudge(), RETRY_MS)
  }

  #onStep(step: PassStep): void {
    this.metrics.noteStep(step)
    if (step.outcome === null) return
    if (step.outcome.chatIds.length > 0) this.index.nudge()
    this.#context.hub.publishWritten(step.outcome)
  }

  #publishState(): void {
    const { state } = this
    if (state === this.#lastState) return
    this.#lastState = state
    this.#context.log.debug({ state }, 'state')
    if (state === 'ready' && !this.#wasReady && this.follow.ends.some((end) => end.state === 'ok')) {
      this.#wasReady = true
      this.#context.log.info('All chats of Cursor are indexed. New messages follow as Cursor writes them.')
    }
    this.#context.hub.send('status', { state, reasons: this.reasons })
  }

  #onRunError(cause: unknown, orders: readonly PassOrder[]): void {
    const error = explainError(cause, this.#setup.mirrorPath)
    if (error.code === 'stopped') return
    const isWaiting = this.#isBlocked
    this.#isBlocked = true
    if (isDamage(error)) return
    // While a disk is full, every pass fails. The error is logged once, and only one retry is planned.
    if (this.#error?.code !== error.code) logError(this.#context.log, error)
    this.#error = error
    this.#missed.push(...orders)
    if (!isWaiting) this.later(() => this.#resume(), RETRY_MS)
  }

  #resume(): void {
    this.#isBlocked = false
    for (const { id, depth } of this.#missed.splice(0)) this.follow.nudge(id, depth)
    this.follow.wake()
  }
}

/** Why indexing stopped, as an error for a person. */
function explainError(error: unknown, mirrorPath: string): UserError {
  const message = error instanceof Error ? error.message : String(error)
  const code = error instanceof UserError ? error.code : 'fault'
  if (isOfFullDisk(code)) {
    const text = `The disk that holds ${mirrorPath} is full, so indexing waits.`
    return new UserError('disk-full', text, 'Make room. Indexing then continues by itself.')
  }
  if (error instanceof UserError && (code === 'stopped' || isDamage(error))) return error
  const hint = `${error instanceof UserError ? `${error.hint} ` : ''}It will be tried again in half a minute.`
  return new UserError(code, `Indexing failed: ${message.replace(/\.$/, '')}.`, hint)
}

const logError = (log: Pick<Logger, 'error'>, { code, message, hint }: UserError): void =>
  log.error({ code }, `${message} ${hint}`)

export type EventHub = ReturnType<typeof eventHub>

/** Sends events to the current listeners. Events are not stored. */
export function eventHub() {
  const listeners = new Set<(event: DaemonEvent) => void>()
  const send = (type: DaemonEvent['type'], data: DaemonEvent['data']): void => {
    for (const listener of listeners) listener({ type, data })
  }
  return {
    send,
    subscribe(listener: (event: DaemonEvent) => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    /** Sends what a step of a pass has written. */
    publishWritten({ messages, chatIds, losses }: Written): void {
      for (const { id, chatId } of messages) send('message', { id, chatId })
      for (const id of chatIds) send('chat', { id })
      for (const loss of losses) send('loss', { ...loss })
    },
  }
}
