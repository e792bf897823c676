import { listRuns, type ListedRun } from '../../api/archives/list-runs.ts'
import { nameRun } from '../../api/archives/manifest-files.ts'
import type { PruneOrder } from '../../api/archives/prune.ts'
import type { Scope } from '../../api/archives/scope.ts'
import type { ArchiveActs, RestoreRequest } from '../../api/http/archive-shapes.ts'
import type { DaemonEvent } from '../../api/http/api-context.ts'
import { toIso } from '../../api/iso.ts'
import { readMap } from '../../indexer/sources/archive/map-uri.ts'
import { UserError } from '../../model/user-error.ts'
import { ArchiveNotes, type RunNote } from './archive-notes.ts'
import type { Executor } from '../executor/executor.ts'
import type { ArchiveInput, ArchiveResult } from '../jobs/archive.ts'
import type { Progress } from '../../api/http/schemas/archives.ts'
import type { RestoreOrder, RestoreResult } from '../restore.ts'
import { ArchiveQueue } from './archive-queue.ts'
import type { ArchiveHealth, ArchiveRestored, ArchiveRun, ArchiveVerdict } from '../../api/http/schemas/archives.ts'

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

/** How many damaged or left-out chats of a run are noted and logged at most. `verify` and a run's own answer list all. */
const NOTED_MAX = 1000

interface Running {
  readonly name: string
  readonly createdAtMs: number
  readonly job: string | null
  readonly scope: Scope
}

/** Makes, verifies and restores archives, one act at a time, and knows the results. */
export class Archives implements Omit<ArchiveActs, 'health'> {
  readonly notes: ArchiveNotes
  readonly #setup: ArchivesSetup
  readonly #context: ArchivesContext
  /** Runs that wait or run, in order. */
  readonly #running = new Map<string, Running>()
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
    const name = this.#freeName(createdAtMs, job)
    const running = { name, createdAtMs, job, scope }
    const input: ArchiveInput = { dir, name, scope, timeZone, version, prune }
    const made = this.#queue
      .enqueue(name, 'run', (options) => this.#context.executor.run('archive', input, options))
      .then((result) => this.#onMade(running, result))
      .catch((error: unknown) => this.#onFailed(running, error))
    this.#running.set(name, running)
    this.#publishState(name, 'running')
    return { run: this.#describeRunning(running), made }
  }

  list(): readonly ArchiveRun[] {
    const listed = listRuns(this.#setup.dir)
    const names = new Set(listed.map(({ name }) => name))
    // A run's file exists a moment before its job reports the end. Until then it counts as running.
    const made = listed.filter(({ name }) => !this.#running.has(name))
    const failed = [...this.notes.runs].filter(([name, { state }]) => state === 'failed' && !names.has(name))
    const all = [
      ...made.map((run) => this.#describe(run)),
      ...failed.map(([name, note]) => failedRun(name, note)),
      ...[...this.#running.values()].map((run) => this.#describeRunning(run)),
    ]
    return all.toSorted((a, b) => (a.name < b.name ? 1 : -1))
  }

  get(name: string): ArchiveRun | null {
    return this.list().find((run) => run.name === name) ?? null
  }

  async verify(name: string, share: number): Promise<ArchiveVerdict> {
    const input = { dir: this.#setup.dir, share }
    const { soundRuns, ...verdict } = await this.#queue.enqueue(name, 'verify', (options) =>
      this.#context.executor.run('verify', input, options),
    )
    this.#noteVerdict(soundRuns, verdict)
    this.#publishState(name, this.get(name)?.state ?? 'damaged')
    return { ...verdict, isSound: share === 1 && soundRuns.includes(name) }
  }

  async restore({ name, from, map }: RestoreRequest): Promise<ArchiveRestored> {
    // A wrong map is refused at once, even if other acts wait.
    readMap(map)
    if (!this.#setup.canRestore) throw switchedOff()
    const run = name === 'newest' ? null : name
    const order = { dir: from ?? this.#setup.dir, isOwn: from === null, name: run, map }
    try {
      const { why, damaged, ...result } = await this.#queue.enqueue(name, 'restore', ({ onProgress }) =>
        this.#context.restore(order, onProgress),
      )
      const ids = damaged.flatMap(({ id }) => id ?? [])
      const ok = why === null && damaged.length === 0
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

  /** Ends the running act, because the mirror's file is about to be replaced. */
  shut(): void {
    this.#queue.shut()
  }

  #onMade(running: Running, result: ArchiveResult): ArchiveResult {
    const { name, createdAtMs, job, scope } = running
    this.#running.delete(name)
    const facts = { createdAtMs, job, scope, error: null, damaged: [], provenAtMs: this.#context.now() }
    this.notes.noteRun(name, { ...facts, state: 'verified' })
    this.notes.forgetAllBut(new Set(listRuns(this.#setup.dir).map((run) => run.name)))
    this.#publishState(name, 'verified')
    this.#context.log('info', `The archive ${name} was made. ${result.packed} chats had changed.`)
    if (result.mended.length > 0) {
      this.#context.log('error', `${result.mended.length} chats were damaged in the archive. They were archived again.`)
    }
    for (const { id, why } of result.leftOut.slice(0, NOTED_MAX)) {
      this.#context.log('error', `The archive ${name} does not have the current state of the chat ${id}: ${why}.`)
    }
    return result
  }

  #onFailed(running: Running, error: unknown): never {
    const { name, createdAtMs, job, scope } = running
    this.#running.delete(name)
    const failure = asUserError(error)
    if (failure.code !== 'stopped' && !this.#queue.isStopped) {
      const facts = { createdAtMs, job, scope, damaged: [], provenAtMs: null }
      this.notes.noteRun(name, { ...facts, state: 'failed', error: failure.message })
      this.#publishState(name, 'failed')
      this.#context.log('error', `The archive ${name} could not be made. ${failure.message} ${failure.hint}`)
    }
    throw failure
  }

  /** A name that no run has or is about to have, as far as this program knows. */
  #freeName(createdAtMs: number, job: string | null): string {
    const taken = new Set([...this.#running.keys(), ...this.notes.runs.keys()])
    return nameRun(this.#setup.dir, createdAtMs, job, taken)
  }

  #noteVerdict(sound: readonly string[], { damagedRuns, damaged }: Omit<ArchiveVerdict, 'isSound'>): void {
    const heads = new Map(listRuns(this.#setup.dir).map((run) => [run.name, run.head]))
    const note = (name: string, state: RunNote['state'], error: string | null): void => {
      const head = heads.get(name) ?? null
      this.notes.noteRun(name, {
        state,
        createdAtMs: head === null ? this.#context.now() : Date.parse(head.createdAt),
        job: head?.job ?? null,
        scope: head?.scope ?? null,
        provenAtMs: state === 'verified' ? this.#context.now() : null,
        error,
        damaged: state === 'verified' ? [] : damaged.slice(0, NOTED_MAX),
      })
    }
    for (const name of sound) note(name, 'verified', null)
    for (const { name, why } of damagedRuns) {
      note(name, 'damaged', why ?? `${damaged.length} chats of the archive are damaged.`)
      this.#context.log('error', `The archive ${name} is damaged.`)
    }
  }

  #describe({ name, head, sha256 }: ListedRun): ArchiveRun {
    const note = this.notes.runs.get(name)
    const isWhole = head !== null && sha256 !== null
    return {
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
      state: !isWhole || note?.state === 'damaged' ? 'damaged' : 'verified',
      provenAt:
        toIso(note === undefined || note.state !== 'verified' ? null : note.provenAtMs) ?? head?.provenAt ?? null,
      error: note?.error ?? (isWhole ? null : 'Its manifest cannot be read.'),
      progress: this.#queue.progressOf(name),
    }
  }

  #describeRunning({ name, createdAtMs, job, scope }: Running): ArchiveRun {
    const facts = { ...noFacts, name, createdAt: toIso(createdAtMs), job, scope }
    return { ...facts, state: 'running', progress: this.#queue.progressOf(name) }
  }

  #publishState(name: string, state: ArchiveRun['state']): void {
    this.#context.publish({ name, state })
  }
}

const asUserError = (error: unknown): UserError =>
  error instanceof UserError
    ? error
    : new UserError('fault', error instanceof Error ? error.message : String(error), 'cursordex will try again.')

const switchedOff = (): UserError =>
  new UserError(
    'archive-off',
    'Archives cannot be restored because sources.archive.enabled is false.',
    'Set it to true.',
  )

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

const failedRun = (name: string, { createdAtMs, job, scope, error }: RunNote): ArchiveRun => ({
  ...noFacts,
  name,
  createdAt: toIso(createdAtMs),
  job,
  scope: scope ?? null,
  state: 'failed',
  error,
})
