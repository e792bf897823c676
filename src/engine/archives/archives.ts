import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { listRunNames, readManifest } from '../../api/archives/archive-files.ts'
import { nameRun } from '../../api/archives/make-run.ts'
import type { PruneOrder } from '../../api/archives/prune.ts'
import type { DaemonEvent } from '../../api/http/api-context.ts'
import type {
  ArchiveActs,
  ArchiveHealth,
  ArchiveRestored,
  ArchiveRun,
  ArchiveVerdict,
  Progress,
  RestoreRequest,
  Scope,
} from '../../api/http/schemas/archives.ts'
import { toIso } from '../../api/iso.ts'
import { runPath, sumsOf } from '../../archive/manifest.ts'
import { readMap } from '../../indexer/sources/archive/map-uri.ts'
import { UserError } from '../../model/user-error.ts'
import { stopped, type Executor, type RunOptions } from '../executor/executor.ts'
import type { RestoreOrder } from '../restore.ts'
import type { ArchiveResult } from './archive-job.ts'
import { ArchiveNotes } from './archive-notes.ts'

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
  restore(order: RestoreOrder, onProgress: (progress: Progress) => void): Promise<ArchiveRestored>
  /** Publishes an event. */
  publish(data: DaemonEvent['data']): void
  /** Writes to the log. */
  log(level: 'info' | 'error', sentence: string): void
}

type AtWork = NonNullable<ArchiveHealth['atWork']>

/** Makes, verifies and restores archives, one act after the other, and knows the results. */
export class Archives implements Omit<ArchiveActs, 'health'> {
  readonly notes: ArchiveNotes
  readonly #setup: ArchivesSetup
  readonly #context: ArchivesContext
  /** Runs that wait, run or failed, as they are shown. Failed ones are forgotten when the program ends. */
  readonly #unmade = new Map<string, ArchiveRun>()
  /** Runs as their manifests describe them, each with the time and size of its file. A manifest is not read twice. */
  readonly #made = new Map<string, { readonly stamp: string; readonly run: ArchiveRun }>()
  readonly #ending = new AbortController()
  #atWork: AtWork | null = null
  #last: Promise<unknown> = Promise.resolve()
  /** How many acts run or wait, also others such as a purge. */
  #waiting = 0

  constructor(setup: ArchivesSetup, context: ArchivesContext) {
    this.#setup = setup
    this.#context = context
    this.notes = new ArchiveNotes(setup.dataDir)
  }

  get running(): string | null {
    const runs = [...this.#unmade.values()]
    return this.#atWork?.name ?? runs.find(({ state }) => state === 'running')?.name ?? null
  }

  get atWork(): ArchiveHealth['atWork'] {
    return this.#atWork
  }

  /** True while an act or a purge runs or waits. */
  get isBusy(): boolean {
    return this.#waiting > 0
  }

  /** The names of archives that were made, if the folder is not there: its disk was removed, or it was moved. */
  get outOfReach(): readonly string[] {
    return existsSync(join(this.#setup.dir, 'runs')) ? [] : [...this.notes.runs.keys()]
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
    const name = nameRun(dir, createdAtMs, job, this.#unmade.keys())
    const run = { ...noFacts, name, createdAt: toIso(createdAtMs), job, scope, state: 'running' } as const
    this.#unmade.set(name, run)
    this.#context.publish({ name, state: 'running' })
    const input = { dir, name, scope, timeZone, version, prune }
    const made = this.#act(name, 'run', (options) => this.#context.executor.run('archive', input, options))
      .then((result) => this.#onMade(result))
      .catch((error: unknown) => {
        throw this.#onFailed(run, error)
      })
    return { run, made }
  }

  #onMade(result: ArchiveResult): ArchiveResult {
    const { name, packed, leftOut } = result
    const context = this.#context
    this.#unmade.delete(name)
    const names = listRunNames(this.#setup.dir)
    for (const each of this.notes.runs.keys()) if (!names.includes(each)) this.notes.runs.delete(each)
    this.notes.runs.set(name, { provenAtMs: context.now(), error: null })
    this.notes.save()
    context.publish({ name, state: 'verified' })
    context.log('info', `The archive ${name} was made. ${packed} chats had changed.`)
    for (const { id, why } of leftOut) {
      context.log('error', `The archive ${name} does not have the current state of the chat ${id}: ${why}.`)
    }
    return result
  }

  #onFailed(run: ArchiveRun, error: unknown): UserError {
    const why = error instanceof Error ? error.message : String(error)
    const failure = error instanceof UserError ? error : new UserError('fault', why, 'cursordex will try again.')
    this.#unmade.set(run.name, { ...run, state: 'failed', error: failure.message })
    if (this.#ending.signal.aborted) return failure
    this.#context.publish({ name: run.name, state: 'failed' })
    this.#context.log('error', `The archive ${run.name} could not be made. ${failure.message} ${failure.hint}`)
    return failure
  }

  list(): readonly ArchiveRun[] {
    const made = listRunNames(this.#setup.dir).filter((name) => !this.#unmade.has(name))
    const runs = [...made.map((name) => this.#describe(name)), ...this.#unmade.values()]
    return runs.map((run) => this.#withProgress(run)).sort((a, b) => (a.name < b.name ? 1 : -1))
  }

  get(name: string): ArchiveRun | null {
    const unmade = this.#unmade.get(name)
    if (unmade !== undefined) return this.#withProgress(unmade)
    return listRunNames(this.#setup.dir).includes(name) ? this.#withProgress(this.#describe(name)) : null
  }

  #withProgress(run: ArchiveRun): ArchiveRun {
    if (this.#atWork?.name !== run.name || this.#atWork.total === 0) return run
    const { done, total } = this.#atWork
    return { ...run, progress: { done, total } }
  }

  #describe(name: string): ArchiveRun {
    const stat = statSync(join(this.#setup.dir, runPath(name)), { throwIfNoEntry: false })
    const stamp = `${stat?.mtimeMs} ${stat?.size}`
    const known = this.#made.get(name)
    const run = known?.stamp === stamp ? known.run : describeManifest(this.#setup.dir, name)
    this.#made.set(name, { stamp, run })
    const note = this.notes.runs.get(name)
    if (note === undefined || run.state === 'damaged') return run
    const { provenAtMs, error } = note
    return {
      ...run,
      state: error === null ? 'verified' : 'damaged',
      provenAt: toIso(provenAtMs) ?? run.provenAt,
      error,
    }
  }

  async verify(name: string): Promise<ArchiveVerdict> {
    const { dir } = this.#setup
    const verdict = await this.#act(name, 'verify', (options) => this.#context.executor.run('verify', { dir }, options))
    const { damaged, damagedRuns } = verdict
    const wrong = new Map(
      damagedRuns.map((run) => [run.name, run.why ?? `${damaged.length} chats of the archive are damaged.`]),
    )
    for (const each of listRunNames(dir)) {
      const error = wrong.get(each) ?? null
      this.notes.runs.set(each, { provenAtMs: error === null ? this.#context.now() : null, error })
      if (error !== null) this.#context.log('error', `The archive ${each} is damaged.`)
    }
    this.notes.save()
    this.#context.publish({ name, state: wrong.has(name) ? 'damaged' : 'verified' })
    return { name, ...verdict }
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
      const restored = await this.#act(name, 'restore', ({ onProgress }) => this.#context.restore(order, onProgress))
      const { damaged, ...rest } = restored
      this.#context.publish({ act: 'restore', state: 'restored', damaged: damaged.length, ...rest })
      return restored
    } catch (error) {
      this.#context.publish({ name, act: 'restore', state: 'failed' })
      throw error
    }
  }

  #act<Result>(
    name: string,
    act: AtWork['act'],
    work: (options: Required<RunOptions>) => Promise<Result>,
  ): Promise<Result> {
    return this.alone(async () => {
      if (this.#ending.signal.aborted) throw stopped()
      this.#atWork = { name, act, done: 0, total: 0 }
      const onProgress = (progress: Progress): void => {
        this.#atWork = { name, act, ...progress }
        this.#context.publish({ state: 'running', ...this.#atWork })
      }
      return work({ signal: this.#ending.signal, onProgress }).finally(() => (this.#atWork = null))
    })
  }

  /** Runs something while no act works on the archive. New acts wait until it ends. */
  alone<Outcome>(act: () => Promise<Outcome>): Promise<Outcome> {
    this.#waiting += 1
    const done = this.#last.then(act).finally(() => (this.#waiting -= 1))
    this.#last = done.catch(() => undefined)
    return done
  }

  /** Ends the running act and starts no other. */
  stop(): void {
    this.#ending.abort()
  }
}

/** What is unknown of a run that has no file. */
const noFacts = {
  createdAt: null,
  scope: null,
  job: null,
  chats: null,
  messages: null,
  bytes: null,
  leftOut: [],
  sha256: null,
  provenAt: null,
  error: null,
  progress: null,
}

function describeManifest(dir: string, name: string): ArchiveRun {
  const read = readManifest(dir, name)
  if (read.kind === 'damaged') return { ...noFacts, name, state: 'damaged', error: read.why }
  const { createdAt, scope, job, leftOut = [], sha256, provenAt, chats } = read.value
  const { listedCount, messageCount, bytes } = sumsOf(chats)
  const sums = { chats: listedCount, messages: messageCount, bytes }
  return { ...noFacts, name, createdAt, scope, job, leftOut, sha256, provenAt, ...sums, state: 'verified' }
}
