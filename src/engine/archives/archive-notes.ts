import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { scrubScope } from '../../api/archives/rewrite-archive.ts'
import { writePrivately } from '../data-folder.ts'

const atMs = z.number()

const runNote = z.object({
  /** `damaged`: the last check found damage. */
  state: z.enum(['verified', 'damaged', 'failed']),
  createdAtMs: atMs,
  job: z.nullable(z.string()),
  scope: z.unknown(),
  provenAtMs: z.nullable(atMs),
  error: z.nullable(z.string()),
})

const jobNote = z.object({
  schedule: z.string(),
  timeZone: z.string(),
  /** When the job runs next. */
  dueAtMs: atMs,
  /** How many runs failed in a row since the last success. */
  failures: z.number(),
  /** When a failed run is repeated. Null if the last run succeeded. */
  retryAtMs: z.nullable(atMs),
  error: z.nullable(z.string()),
})

const notes = z.object({ runs: z.record(z.string(), runNote), jobs: z.record(z.string(), jobNote) })

export type RunNote = z.infer<typeof runNote>
export type JobNote = z.infer<typeof jobNote>

const FAILED_MAX = 50

/**
 * Facts about runs that the archive folder does not have, and the times when jobs are due. They are in `archives.json`
 * in the data folder. If the file is lost, failures are forgotten, and the time of a job's last run shows whether one was
 * missed.
 */
export class ArchiveNotes {
  readonly #path: string
  readonly #runs: Map<string, RunNote>
  readonly #jobs: Map<string, JobNote>

  constructor(dataDir: string) {
    this.#path = join(dataDir, 'archives.json')
    const { runs, jobs } = load(this.#path)
    this.#runs = new Map(Object.entries(runs))
    this.#jobs = new Map(Object.entries(jobs))
  }

  get runs(): ReadonlyMap<string, RunNote> {
    return this.#runs
  }

  job(name: string): JobNote | null {
    return this.#jobs.get(name) ?? null
  }

  noteRun(name: string, note: RunNote): void {
    this.#runs.set(name, note)
    const failed = [...this.#runs].filter(([, { state }]) => state === 'failed').map(([each]) => each)
    for (const oldest of failed.slice(0, -FAILED_MAX)) this.#runs.delete(oldest)
    this.#save()
  }

  /** Forgets runs that no longer exist. Failed runs never existed, so they stay. @param names the existing runs */
  forgetAllBut(names: readonly string[]): void {
    for (const [name, { state }] of this.#runs) if (state !== 'failed' && !names.includes(name)) this.#runs.delete(name)
    this.#save()
  }

  /** Removes a text from the scopes of all runs. */
  forgetText(match: string): void {
    for (const [name, note] of this.#runs) {
      this.#runs.set(name, { ...note, scope: scrubScope(note.scope as z.core.util.JSONType, match) })
    }
    this.#save()
  }

  noteJob(name: string, note: JobNote): void {
    this.#jobs.set(name, note)
    this.#save()
  }

  /** If this fails, the next note writes everything. */
  #save(): void {
    const text = JSON.stringify({ runs: Object.fromEntries(this.#runs), jobs: Object.fromEntries(this.#jobs) })
    try {
      writePrivately(this.#path, text)
    } catch (error) {
      // A full disk must not end the daemon.
      if (!(error instanceof Error && 'code' in error)) throw error
    }
  }
}

function load(path: string): z.infer<typeof notes> {
  try {
    return notes.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    // The file is missing or damaged. It may be lost.
    return { runs: {}, jobs: {} }
  }
}

/** The names of successful runs, if the archive folder is not there: its disk was removed, or the folder was moved. */
export function runsOutOfReach({ runs }: ArchiveNotes, dir: string): readonly string[] {
  if (existsSync(join(dir, 'runs'))) return []
  return [...runs].flatMap(([name, { state }]) => (state === 'failed' ? [] : [name]))
}
