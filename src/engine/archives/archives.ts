import * as z from 'zod/mini'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { listRunNames, readManifest } from '../../api/archives/archive-files.ts'
import type { RunOrder, PruneOrder } from '../../api/archives/make-run.ts'
import type * as answers from '../../api/answers/archives.ts'
import type { Progress } from '../../model/progress.ts'
import { toIso } from '../../api/queries/rows.ts'
import { runName, sumsOf, timeOfRun } from '../../archive/archived-chat.ts'
import { readMap } from '../../indexer/sources/archive/index.ts'
import { codeOf } from '../../mirror/damage/find-damage.ts'
import { ARCHIVE } from '../../mirror/sources/sources.ts'
import { UserError } from '../../model/user-error.ts'
import type { Settings } from '../../settings.ts'
import { Turns } from '../deferred.ts'
import { dueJobs, jobNote } from '../due-jobs.ts'
import type { EngineContext } from '../engine.ts'
import type { OnProgress } from '../executor/executor.ts'
import { restoreArchive } from '../restore.ts'
import { readRegular } from '../../regular-file.ts'
import { writePrivately } from '../data-folder.ts'

type ArchiveSettings = Pick<Settings, 'archives' | 'dataDir' | 'sources'>

type ArchivesWorld = Pick<EngineContext, 'version' | 'now' | 'zone' | 'publish' | 'log' | 'executor' | 'writer'> & {
  readonly index: Pick<EngineContext['index'], 'follow'>
}

/** A failed job is tried again after this time, and then after growing pauses. */
const FIRST_PAUSE_MS = 5 * 60_000

type AtWork = NonNullable<answers.ArchiveHealth['atWork']>

/** Makes, verifies and restores archives, one act after the other, and knows the results. */
export class Archives implements answers.ArchiveActs {
  /** The jobs of the settings. */
  readonly schedule: ReturnType<typeof dueJobs>
  /** What the archive folder does not say: which of its runs were found damaged, and when jobs are due. Both by name. */
  readonly #notes: z.infer<typeof archiveNotes>
  /** `archives.json` in the data folder. */
  readonly #notesFile: string
  readonly dir: string
  readonly #settings: ArchiveSettings
  readonly #world: ArchivesWorld
  /** Runs that wait, run or failed, as they are shown. Failed ones are forgotten when the program ends. */
  readonly #unmade = new Map<string, answers.ArchiveRun>()
  #atWork: AtWork | null = null
  readonly #turns = new Turns()

  constructor(settings: ArchiveSettings, world: ArchivesWorld) {
    this.dir = settings.archives.dir
    this.#settings = settings
    this.#world = world
    this.#notesFile = join(settings.dataDir, 'archives.json')
    this.#notes = loadNotes(this.#notesFile)
    const jobs = settings.archives.jobs.map(({ name, schedule, timezone, scope, keep }) => ({
      name,
      schedule,
      timezone,
      firstPauseMs: FIRST_PAUSE_MS,
      run: async (timeZone: string): Promise<void> => {
        const why = await this.run(scope, timeZone, { job: name, keep }).made
        if (why !== null) throw new Error(why)
      },
    }))
    this.schedule = dueJobs(jobs, this.#notes.jobs, world, () => this.#saveNotes())
  }

  /** If this fails, the next call writes everything. */
  #saveNotes(): void {
    try {
      writePrivately(this.#notesFile, JSON.stringify(this.#notes))
    } catch (error) {
      // A full disk must not end the daemon.
      if (codeOf(error) === '') throw error
    }
  }

  health(): answers.ArchiveHealth {
    const last = Object.keys(this.#notes.runs).sort().at(-1)
    const jobs = this.schedule.listNotes()
    return {
      running: this.#atWork?.name ?? null,
      atWork: this.#atWork,
      lastRunAt: last === undefined ? null : timeOfRun(last),
      nextRunAt: toIso(Math.min(...jobs.map(({ dueAtMs }) => dueAtMs))),
      failed: jobs.flatMap(({ job, failures, error, dueAtMs }) =>
        failures === 0 ? [] : [{ job, error: error ?? '', failures, retryAt: toIso(dueAtMs) }],
      ),
    }
  }

  /** The names of archives that were made, if the folder is not there: its disk was removed, or it was moved. */
  get outOfReach(): readonly string[] {
    return existsSync(join(this.dir, 'runs')) ? [] : Object.keys(this.#notes.runs)
  }

  /**
   * Queues a run.
   * @param prune null if a person asked for it, and no job
   * @returns the run as it begins, and a promise of its end: the error, or null
   */
  run(
    scope: string | null,
    timeZone: string,
    prune: PruneOrder | null = null,
  ): { run: answers.ArchiveRun; made: Promise<string | null> } {
    const createdAtMs = this.#world.now()
    const job = prune?.job ?? null
    const name = runName(createdAtMs, job, [...listRunNames(this.dir), ...this.#unmade.keys()])
    const run = { ...noFacts, name, createdAt: toIso(createdAtMs), job, scope, state: 'running' } as const
    this.#unmade.set(name, run)
    this.#world.publish({ name, state: 'running' })
    const order = { dir: this.dir, name, scope, timeZone, version: this.#world.version, prune }
    return { run, made: this.#make(run, order) }
  }

  async #make(run: answers.ArchiveRun, order: RunOrder): Promise<string | null> {
    const { name } = run
    const world = this.#world
    try {
      const work = (onProgress: OnProgress) => world.executor.run('archive', order, onProgress)
      const { packed, leftOut } = await this.#act(name, 'run', work)
      this.#unmade.delete(name)
      this.#note([name])
      world.publish({ name, state: 'verified' })
      world.log('info', `The archive ${name} was made. ${packed} chats had changed.`)
      for (const { id, why } of leftOut) {
        world.log('error', `The archive ${name} does not have the current state of the chat ${id}: ${why}.`)
      }
      return null
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      this.#unmade.set(name, { ...run, state: 'failed', error: why })
      if (error instanceof UserError && error.code === 'stopped') return why
      world.publish({ name, state: 'failed' })
      const hint = error instanceof UserError ? error.hint : ''
      world.log('error', `The archive ${name} could not be made. ${why} ${hint}`)
      return why
    }
  }

  /** Notes that these runs were read back, and what is wrong with them. Runs that were removed are forgotten. */
  #note(read: readonly string[], wrong: ReadonlyMap<string, string> = new Map()): void {
    const names = listRunNames(this.dir)
    this.#notes.runs = Object.fromEntries(Object.entries(this.#notes.runs).filter(([name]) => names.includes(name)))
    for (const name of read) {
      const error = wrong.get(name) ?? null
      this.#notes.runs[name] = { provenAtMs: error === null ? this.#world.now() : null, error }
    }
    this.#saveNotes()
  }

  list(): readonly answers.ArchiveRun[] {
    const made = listRunNames(this.dir).filter((name) => !this.#unmade.has(name))
    const runs = [...made.map((name) => this.#describe(name)), ...this.#unmade.values()]
    return runs.sort((a, b) => (a.name < b.name ? 1 : -1))
  }

  #describe(name: string): answers.ArchiveRun {
    const run = describeManifest(this.dir, name)
    const note = this.#notes.runs[name]
    if (note === undefined || run.state === 'damaged') return run
    const { provenAtMs, error } = note
    return {
      ...run,
      state: error === null ? 'verified' : 'damaged',
      provenAt: toIso(provenAtMs) ?? run.provenAt,
      error,
    }
  }

  async verify(name: string): Promise<answers.ArchiveVerdict> {
    const work = (onProgress: OnProgress) => this.#world.executor.run('verify', { dir: this.dir }, onProgress)
    const verdict = await this.#act(name, 'verify', work)
    const { damaged, damagedRuns } = verdict
    const wrong = new Map<string, string>()
    for (const run of damagedRuns) {
      wrong.set(run.name, run.why ?? `${damaged.length} chats of the archive are damaged.`)
      this.#world.log('error', `The archive ${run.name} is damaged.`)
    }
    this.#note(listRunNames(this.dir), wrong)
    this.#world.publish({ name, state: wrong.has(name) ? 'damaged' : 'verified' })
    return { name, ...verdict }
  }

  async restore(request: answers.RestoreRequest): Promise<answers.ArchiveRestored> {
    // A wrong map is refused at once, even if other acts wait.
    readMap(request.map)
    if (!this.#settings.sources[ARCHIVE].enabled) {
      const text = 'Archives cannot be restored because sources.archive.enabled is false.'
      throw new UserError('archive-off', text, 'Set it to true.')
    }
    const { writer, index } = this.#world
    return this.#act(request.name, 'restore', async (onProgress) => {
      const restored = await restoreArchive(request, this.dir, (part) => writer.act('restore', part), onProgress)
      await index.follow()
      return restored
    })
  }

  #act<Result>(name: string, act: AtWork['act'], work: (onProgress: OnProgress) => Promise<Result>): Promise<Result> {
    return this.alone(async () => {
      this.#atWork = { name, act, done: 0, total: 0 }
      const onProgress = (progress: Progress): void => {
        this.#atWork = { name, act, ...progress }
        this.#world.publish({ state: 'running', ...this.#atWork })
      }
      return work(onProgress).finally(() => {
        this.#atWork = null
        this.#world.publish({ name, act, state: 'ended' })
      })
    })
  }

  /** Runs something while no act works on the archive. New acts wait until it ends. */
  alone<Outcome>(act: () => Promise<Outcome>): Promise<Outcome> {
    return this.#turns.run(act)
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
}

function describeManifest(dir: string, name: string): answers.ArchiveRun {
  const read = readManifest(dir, name)
  if (read.kind === 'damaged') return { ...noFacts, name, state: 'damaged', error: read.why }
  const { createdAt, scope, job, leftOut = [], sha256, provenAt } = read.value
  const { listedCount: chats, messageCount: messages, bytes } = sumsOf(read.value.chats)
  const sums = { chats, messages, bytes }
  return { ...noFacts, name, createdAt, scope, job, leftOut, sha256, provenAt, ...sums, state: 'verified' }
}

const runNote = z.object({
  /** When the run was last read back, epoch milliseconds. Null if it is damaged. */
  provenAtMs: z.nullable(z.number()),
  /** What is wrong with it. */
  error: z.nullable(z.string()),
})

const archiveNotes = z.object({ runs: z.record(z.string(), runNote), jobs: z.record(z.string(), jobNote) })

const NOTES_BYTES_MAX = 2 * 1024 * 1024

function loadNotes(file: string): z.infer<typeof archiveNotes> {
  try {
    return archiveNotes.parse(JSON.parse(readRegular(file, NOTES_BYTES_MAX).toString()))
  } catch {
    // The file is missing, damaged, or no file. It may be lost.
    return { runs: {}, jobs: {} }
  }
}
