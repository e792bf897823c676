import type { Worker } from 'node:worker_threads'
import type { DaemonState, SyncOutcome } from '../../api/http/api-context.ts'
import type { Damage } from '../../mirror/maintenance/check-pages.ts'
import { UserError } from '../../model/user-error.ts'
import type { EventHub } from '../server/event-hub.ts'
import { SourceMonitor } from './source-monitor.ts'
import { deferred, type Deferred } from '../../engine/deferred.ts'
import { damageIn, explainError, logError } from './explain-error.ts'
import { threadWriter, type ThreadWriter } from '../../engine/writer/thread-writer.ts'
import { collectGarbage, GIVE_BACK_MS } from '../../engine/heap-limits.ts'
import type { RunOutcome, StepNews, WriterSetup } from '../../engine/writer/messages.ts'
import type { Logger } from '../lifecycle/log.ts'
import { PassScheduler, type Order } from './pass-scheduler.ts'
import { publishProgress } from './publish-progress.ts'
import { sourceReasons } from '../../engine/source-reasons.ts'
import type { Executor } from '../../engine/executor/executor.ts'
import { Timers } from './timers.ts'
import type { Readers } from '../../engine/writer/maintenance.ts'
import { Upkeep } from './upkeep.ts'
import { Metrics } from './metrics.ts'
import { startWatch, watchError, type Watch } from './watch.ts'

const POLL_MS = 1000
const POLL_ALL_MS = 60_000
const CPU_SAMPLE_MS = 10_000
const LOOK_MS = 5000
const RETRY_MS = 30_000
/** Full-text rows that a first pass left for later are written in runs of this length: new messages go in between. */
const BACKLOG_MS = 200
/** What was told of a job that took so long made the main thread's heap larger than it needs to be. */
const LONG_JOB_MS = 5000

export interface IndexingWorld {
  readonly readers: Readers
  readonly executor: Pick<Executor, 'run'>
  readonly log: Logger
  readonly hub: EventHub
  readonly now: () => number
}

/** The indexing half of the daemon: sources followed, passes paced, the worker driven. */
export class Indexing {
  readonly metrics: Metrics
  readonly #log: Logger
  readonly #hub: EventHub
  readonly #timers = new Timers()
  readonly #writer: ThreadWriter
  readonly #follow: SourceMonitor
  readonly #pacer: PassScheduler<RunOutcome>
  readonly #watch: Watch
  readonly #setup: WriterSetup
  readonly #executor: Pick<Executor, 'run'>
  #isCheckingTerms = false
  readonly #upkeep: Upkeep
  #trouble: UserError | null = null
  #backlog = 0
  #needsMerge = false
  #damages = 0
  #isHeldUp = false
  #isRunning = false
  #drained: Deferred<void>[] = []
  readonly #missed: Order[] = []
  #hasStarted = false
  #wasReady = false
  #lastState: DaemonState = 'starting'
  /** Hears how many messages are new or became others. */
  onMessages: (count: number) => void = () => undefined

  constructor(thread: Worker, setup: WriterSetup, { readers, executor, log, hub, now }: IndexingWorld) {
    this.#setup = setup
    this.#log = log
    this.#hub = hub
    this.metrics = new Metrics(now)
    this.#writer = threadWriter(thread, setup, (step) => this.#onStep(step))
    const later = (act: () => void, delayMs: number): void => this.#timers.later(act, delayMs)
    this.#pacer = new PassScheduler({
      now,
      later,
      source: (id) => this.#follow.paced(id),
      run: (orders) => this.#run(orders),
      hasMore: () => (this.#backlog > 0 || this.#needsMerge) && !this.#isHeldUp,
    })
    this.#executor = executor
    this.#upkeep = new Upkeep({
      log,
      writer: this.#writer,
      readers,
      now,
      later,
      explain: (error) => explainError(error, setup.mirrorPath),
      checkTerms: () => this.#checkTerms(),
      onBacklog: (backlog) => this.noteBacklog(backlog),
      onMade: () => this.#follow.readAnew(),
    })
    this.#watch = startWatch(
      (folder) => this.#follow.onEvent(folder),
      (error) => log.warn(watchError(error)),
    )
    this.#follow = new SourceMonitor(setup, {
      now,
      later,
      nudge: (id, depth) => this.#pacer.nudge(id, depth),
      watch: (folders, files) => this.#watch.follow(folders, files),
    })
  }

  /** Resolves when the mirror can be read. @throws UserError when it cannot be opened */
  open(): Promise<void> {
    return this.#writer.opened
  }

  /** Begins to follow the sources, once the mirror, which is open, is known to be sound. */
  async start(): Promise<void> {
    try {
      await this.#upkeep.check()
    } catch (error) {
      // It is stopping.
      if (error instanceof UserError && error.code === 'stopped') return
      throw error
    }
    this.#follow.discover()
    this.#hasStarted = true
    this.#timers.every(() => this.#follow.poll(false), POLL_MS)
    this.#timers.every(() => this.#follow.poll(true), POLL_ALL_MS)
    this.#timers.every(() => this.metrics.sampleCpu(), CPU_SAMPLE_MS)
    this.#timers.every(() => void this.#upkeep.lookAtPlace().catch(() => undefined), LOOK_MS)
  }

  /** The rhythm at which all keys of what changed are compared. */
  reconcileChanged(): void {
    this.#follow.reconcileChanged()
  }

  /** Something was read that cannot be: the mirror is looked at, and whatever is wrong with it is mended. */
  onDamage(suspected: Damage): void {
    if (!this.#hasStarted) return
    const isSound = this.#upkeep.check(suspected)
    isSound.then(() => this.#pacer.wake()).catch(() => undefined)
  }

  /** Writes what no source holds, between two passes. */
  get writer(): Pick<ThreadWriter, 'saveEstimates' | 'importUsage' | 'restore' | 'purge'> {
    return this.#writer
  }

  /** Once a week, whenever it is asked. */
  checkTermsIfDue(): void {
    if (this.state === 'ready' && !this.#isCheckingTerms) this.#upkeep.checkTermsIfDue().catch(() => undefined)
  }

  /** True without an answer, too: real damage is found again. */
  async #checkTerms(): Promise<boolean> {
    this.#isCheckingTerms = true
    try {
      return await this.#executor.run('check-terms', null)
    } catch {
      return true
    } finally {
      this.#isCheckingTerms = false
    }
  }

  /** At the start it may not be known yet whether the mirror is sound. */
  async whenSound(): Promise<void> {
    if (!this.#hasStarted) await this.#upkeep.check()
  }

  /** Runs a pass over everything now, and resolves once all of it can be found. */
  async sync({ full }: { full: boolean }): Promise<SyncOutcome> {
    const startedAt = performance.now()
    await this.whenSound()
    this.#follow.discover()
    const ids = this.#follow.sources.map((source) => source.id)
    if (ids.length === 0) return { changed: 0, added: 0, gone: 0, tookMs: 0, reasons: [] }
    const { changed, added, gone, ends } = await this.#pacer.runNow(ids, full ? 'full' : 'reconcile')
    await this.whenDrained()
    return { changed, added, gone, tookMs: Math.round(performance.now() - startedAt), reasons: sourceReasons(ends) }
  }

  get state(): DaemonState {
    if (this.#troubles.length > 0) return 'degraded'
    if (!this.#hasStarted) return 'starting'
    if (this.#upkeep.doing.length > 0) return 'indexing'
    return this.#follow.isUpToDate && this.#backlog === 0 ? 'ready' : 'indexing'
  }

  /** What keeps the mirror from being whole, in words for a person, and what was done where it was damaged. */
  get reasons(): string[] {
    return [...this.#troubles, ...this.#upkeep.doing, ...this.#upkeep.notices]
  }

  get #troubles(): string[] {
    const both = [this.#upkeep.trouble, this.#trouble]
    const trouble = both.flatMap((one) => (one === null ? [] : `${one.code}: ${one.message}`))
    return [...trouble, ...sourceReasons(this.#follow.ends)]
  }

  /** Whether nothing is being read, indexed or checked. */
  get isResting(): boolean {
    const isMending = this.#upkeep.doing.length > 0 || this.#isCheckingTerms
    return this.#hasStarted && !isMending && !this.#isRunning && this.#backlog === 0
  }

  /** Not at all, once it was stopped. */
  later(act: () => void, delayMs: number): void {
    this.#timers.later(act, delayMs)
  }

  get reading(): Pick<SourceMonitor, 'lagMs' | 'wasAllRead'> {
    return this.#follow
  }

  async stop(): Promise<void> {
    this.#pacer.stop()
    this.#timers.stop()
    await Promise.all([this.#watch.close(), this.#writer.stop()])
  }

  /** Resolves once all that can be read can be found. */
  async whenDrained(): Promise<void> {
    if (this.#backlog === 0) return
    const drained = deferred<void>()
    this.#drained.push(drained)
    await drained.promise
  }

  async #run(orders: readonly Order[]): Promise<RunOutcome> {
    const settle = this.#follow.begin(orders)
    this.metrics.beginRun()
    this.#isRunning = true
    this.#tellState()
    try {
      const outcome = await this.#writer.run({ kind: 'run', sources: orders, backlogMs: BACKLOG_MS })
      this.#trouble = null
      this.#damages = 0
      this.#backlog = outcome.backlog
      this.#needsMerge = outcome.needsMerge
      settle(outcome)
      const { changed, added, gone } = outcome
      if (changed + added + gone > 0) this.#log.debug({ changed, added, gone }, 'pass done')
      this.onMessages(changed + added)
      return outcome
    } catch (error) {
      this.#onRunTrouble(error, orders)
      throw error
    } finally {
      this.#isRunning = false
      if (this.#backlog === 0) this.#endJob()
      // The pacer still counts this run; a moment later it does not.
      this.#timers.later(() => this.#tellState(), 1)
    }
  }

  #endJob(): void {
    if (this.metrics.endJob() > LONG_JOB_MS) this.#timers.later(collectGarbage, GIVE_BACK_MS)
    for (const drained of this.#drained.splice(0)) drained.resolve()
  }

  #onStep(step: StepNews): void {
    this.metrics.noteStep(step)
    if (this.#hub.hasListeners) publishProgress(this.#hub, step)
  }

  #tellState(): void {
    const { state } = this
    if (state === this.#lastState) return
    this.#lastState = state
    this.#log.debug({ state }, 'state')
    if (state === 'ready' && !this.#wasReady && this.#follow.ends.some((end) => end.state === 'ok')) {
      this.#wasReady = true
      this.#log.info('Everything that Cursor holds is indexed; new messages follow as they are written.')
    }
    this.#hub.send('status', { state, reasons: this.reasons })
  }

  #onRunTrouble(error: unknown, orders: readonly Order[]): void {
    const trouble = explainError(error, this.#setup.mirrorPath)
    if (trouble.code === 'stopped') return
    for (const drained of this.#drained.splice(0)) drained.reject(trouble)
    const isWaitedOut = this.#isHeldUp
    this.#isHeldUp = true
    if (damageIn(trouble) !== 'none') return this.#onRunDamage(trouble, orders)
    // Told once, and waited out once: as long as a disk is full, each pass over what Cursor writes meets that.
    if (this.#trouble?.code !== trouble.code) logError(this.#log, trouble)
    this.#trouble = trouble
    this.#missed.push(...orders)
    if (!isWaitedOut) this.#timers.later(() => this.#goOn(), RETRY_MS)
  }

  /** Nothing runs until the mirror is sound; then what was to be done is done. */
  #onRunDamage(trouble: UserError, orders: readonly Order[]): void {
    logError(this.#log, trouble)
    this.#damages += 1
    this.#missed.push(...orders.map(({ id }) => ({ id, depth: 'reconcile' }) as const))
    // What comes back though it was mended is not mended in a circle.
    const delayMs = this.#damages > 2 ? RETRY_MS : 0
    const suspected = this.#damages === 1 ? damageIn(trouble) : 'rows'
    const goOn = (): void => this.#goOn()
    this.#timers.later(() => this.#upkeep.check(suspected).then(goOn, () => undefined), delayMs)
  }

  #goOn(): void {
    this.#isHeldUp = false
    for (const { id, depth } of this.#missed.splice(0)) this.#pacer.nudge(id, depth)
    this.#pacer.wake()
  }

  noteBacklog(backlog: number): void {
    this.#backlog = backlog
    this.#pacer.wake()
    this.#tellState()
  }
}
