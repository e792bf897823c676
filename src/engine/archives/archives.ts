import { nameRun } from '../../api/archives/make-run.ts'
import { listRunNames, listRuns, type ListedRun } from '../../api/archives/manifest-files.ts'
import type { PruneOrder } from '../../api/archives/prune.ts'
import type { Scope } from '../../api/archives/scope.ts'
import type { DaemonEvent } from '../../api/http/api-context.ts'
import type { ArchiveActs, RestoreRequest } from '../../api/http/archive-shapes.ts'
import type {
  ArchiveHealth,
  ArchiveRestored,
  ArchiveRun,
  ArchiveVerdict,
  Progress,
} from '../../api/http/schemas/archives.ts'
import { toIso } from '../../api/iso.ts'
import { readMap } from '../../indexer/sources/archive/map-uri.ts'
import { UserError } from '../../model/user-error.ts'
import type { Executor } from '../executor/executor.ts'
import type { RestoreOrder, RestoreResult } from '../restore.ts'
import type { ArchiveResult } from './archive-job.ts'
import { ArchiveNotes, type RunNote } from './archive-notes.ts'
import { ArchiveQueue } from './archive-queue.ts'

export interface ArchivesSetup {
  readonly dir: string
  readonly dataDir: string
  readonly version: string
  /** False if the settings switch the archive off as a source. */
  readonly canRestore: boolean
}

export interface ArchivesContext {
  now(): number
  readonly executor: Pick<Executor, 'run'>
  /** Has the mirror's writer restore an archive. */
  restore(order: RestoreOrder, onProgress: (progress: Progress) => void): Promise<RestoreResult>
  /** Publishes an event. */
  publish(data: DaemonEvent['data']): void
  /** Writes to the log. */
  log(level: 'info' | 'error', sentence: string): void
}

/** How many left-out chats of a run are logged at most. The run's own answer lists all. */
const LOGGED_MAX = 1000

/** Makes, verifies and restores archives, one act at a time, and knows the results. */
export class Archives implements Omit<ArchiveActs, 'health'> {
  readonly notes: ArchiveNotes
  readonly #setup: ArchivesSetup
  readonly #context: ArchivesContext
  /** Runs that wait or run, in order, as they are shown. */
  readonly #running = new Map<string, ArchiveRun>()
  readonly #queue: ArchiveQueue

  constructor(setup: ArchivesSetup, context: ArchivesContext) {
    this.#setup = setup
    this.#context = context
    this.notes = new ArchiveNotes(setup.dataDir)
    this.#queue = new ArchiveQueue((progress) => context.publish({ state: 'running', ...progress }))
  }

  get running(): string | null {
    return this.#queue.atWork?.name ?? [...this.#running.keys()][0] ?? null
  }

  get atWork(): ArchiveHealth['atWork'] {
    return this.#queue.atWork
  }

  /** True while an act or a purge runs or waits. */
  get isBusy(): boolean {
    return this.#queue.isBusy
  }

  run(scope: Scope, timeZone: string): ArchiveRun {
    const { run, made } = this.begin(scope, null, timeZone)
    // The run itself shows its result.
    made.catch(() => undefined)
    return run
  }

  /**
   * Queues a run.
   * @param prune null if a person asked for it, and no job
   * @returns the run as it begins, and a promise of its result
   */
  begin(scope: Scope, prune: PruneOrder | null, timeZone: string): { run: ArchiveRun; made: Promise<ArchiveResult> } {
    const { dir, version } = this.#setup
    const job = prune?.job ?? null
    const createdAtMs = this.#context.now()
    const name = nameRun(dir, createdAtMs, job, [...this.#running.keys(), ...this.notes.runs.keys()])
    const note = { createdAtMs, job, scope, provenAtMs: null, error: null }
    const run = { ...noFacts, name, createdAt: toIso(createdAtMs), job, scope, state: 'running' } as const
    const made = this.#queue
      .enqueue(name, 'run', (options) =>
        this.#context.executor.run('archive', { dir, name, scope, timeZone, version, prune }, options),
      )
      .finally(() => this.#running.delete(name))
      .then((result) => {
        this.notes.noteRun(name, { ...note, state: 'verified', provenAtMs: this.#context.now() })
        this.#onMade(result)
        return result
      })
      .catch((error: unknown) => {
        throw this.#failed(name, note, error)
      })
    this.#running.set(name, run)
    this.#context.publish({ name, state: 'running' })
    return { run, made }
  }

  #onMade({ name, packed, mended, leftOut }: ArchiveResult): void {
    const context = this.#context
    this.notes.forgetAllBut(listRunNames(this.#setup.dir))
    context.publish({ name, state: 'verified' })
    context.log('info', `The archive ${name} was made. ${packed} chats had changed.`)
    if (mended.length > 0) {
      context.log('error', `${mended.length} chats were damaged in the archive. They were archived again.`)
    }
    for (const { id, why } of leftOut.slice(0, LOGGED_MAX)) {
      context.log('error', `The archive ${name} does not have the current state of the chat ${id}: ${why}.`)
    }
  }

  #failed(name: string, note: Omit<RunNote, 'state'>, error: unknown): UserError {
    const why = error instanceof Error ? error.message : String(error)
    const failure = error instanceof UserError ? error : new UserError('fault', why, 'cursordex will try again.')
    if (failure.code === 'stopped' || this.#queue.isStopped) return failure
    this.notes.noteRun(name, { ...note, state: 'failed', error: failure.message })
    this.#context.publish({ name, state: 'failed' })
    this.#context.log('error', `The archive ${name} could not be made. ${failure.message} ${failure.hint}`)
    return failure
  }

  list(): readonly ArchiveRun[] {
    // A run's file exists a moment before its job reports the end. Until then it counts as running.
    const made = listRuns(this.#setup.dir).filter(({ name }) => !this.#running.has(name))
    const failed = [...this.notes.runs].filter(([name, { state }]) => {
      return state === 'failed' && !made.some((run) => run.name === name)
    })
    const all = [
      ...made.map((run) => describeMade(run, this.notes.runs.get(run.name))),
      ...failed.map(([name, note]) => describeFailed(name, note)),
      ...this.#running.values(),
    ]
    return all
      .map((run) => ({ ...run, progress: this.#queue.progressOf(run.name) }))
      .sort((a, b) => (a.name < b.name ? 1 : -1))
  }

  get(name: string): ArchiveRun | null {
    return this.list().find((run) => run.name === name) ?? null
  }

  async verify(name: string): Promise<ArchiveVerdict> {
    const { dir } = this.#setup
    const { soundRuns, ...verdict } = await this.#queue.enqueue(name, 'verify', (options) =>
      this.#context.executor.run('verify', { dir }, options),
    )
    const { damaged, damagedRuns } = verdict
    const wrong = new Map(
      damagedRuns.map((run) => [run.name, run.why ?? `${damaged.length} chats of the archive are damaged.`]),
    )
    for (const run of listRuns(dir)) {
      const error = wrong.get(run.name) ?? null
      // A run that was made meanwhile was not looked at.
      if (error === null && !soundRuns.includes(run.name)) continue
      const createdAtMs = run.head === null ? this.#context.now() : Date.parse(run.head.createdAt)
      const { job = null, scope = null } = run.head ?? {}
      const provenAtMs = error === null ? this.#context.now() : null
      const state = error === null ? 'verified' : 'damaged'
      this.notes.noteRun(run.name, { state, createdAtMs, job, scope, provenAtMs, error })
      if (error !== null) this.#context.log('error', `The archive ${run.name} is damaged.`)
    }
    this.#context.publish({ name, state: this.get(name)?.state ?? 'damaged' })
    return { ...verdict, isSound: soundRuns.includes(name) }
  }

  async restore({ name, from, map }: RestoreRequest): Promise<ArchiveRestored> {
    // A wrong map is refused at once, even if other acts wait.
    readMap(map)
    if (!this.#setup.canRestore) {
      const text = 'Archives cannot be restored because sources.archive.enabled is false.'
      throw new UserError('archive-off', text, 'Set it to true.')
    }
    const run = name === 'newest' ? null : name
    const order = { dir: from ?? this.#setup.dir, isOwn: from === null, name: run, map }
    try {
      const { why, damaged, ...result } = await this.#queue.enqueue(name, 'restore', ({ onProgress }) =>
        this.#context.restore(order, onProgress),
      )
      const ok = why === null && damaged.length === 0
      const ids = damaged.flatMap(({ id }) => id ?? [])
      this.#context.publish({ act: 'restore', state: 'restored', ok, damaged: ids.length, ...result })
      return { ...result, ok, damaged: ids, manifest: why }
    } catch (error) {
      this.#context.publish({ name, act: 'restore', state: 'failed' })
      throw error
    }
  }

  /** Runs something while no act works on the archive. New acts wait until it ends. */
  alone<Outcome>(act: () => Promise<Outcome>): Promise<Outcome> {
    return this.#queue.alone(act)
  }

  /** Ends the running act and starts no other. */
  stop(): void {
    this.#queue.stop()
  }
}

/** What is unknown of a run that has no file. */
const noFacts = {
  chats: null,
  unlisted: null,
  messages: null,
  bytes: null,
  leftOut: [],
  sha256: null,
  provenAt: null,
  error: null,
  progress: null,
}

function describeFailed(name: string, { createdAtMs, job, scope, error }: RunNote): ArchiveRun {
  return { ...noFacts, name, createdAt: toIso(createdAtMs), job, scope: scope ?? null, state: 'failed', error }
}

function describeMade({ name, head, sha256 }: ListedRun, note: RunNote | undefined): ArchiveRun {
  const isDamaged = head === null || sha256 === null || note?.state === 'damaged'
  const provenAtMs = note?.state === 'verified' ? note.provenAtMs : null
  return {
    ...noFacts,
    name,
    createdAt: head?.createdAt ?? null,
    scope: head?.scope ?? null,
    job: head?.job ?? null,
    chats: head === null ? null : head.chatCount - (head.unlistedCount ?? 0),
    unlisted: head?.unlistedCount ?? null,
    messages: head?.messageCount ?? null,
    bytes: head?.bytes ?? null,
    leftOut: head?.leftOut ?? [],
    sha256,
    state: isDamaged ? 'damaged' : 'verified',
    provenAt: toIso(provenAtMs) ?? head?.provenAt ?? null,
    error: note?.error ?? (head === null || sha256 === null ? 'Its manifest cannot be read.' : null),
  }
}
