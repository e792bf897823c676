import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { scrubScope } from '../../api/archives/purge/scrub-scope.ts'
import { writePrivately } from '../data-folder.ts'

const word = z.string()
const atMs = z.number()

const runNote = z.object({
  /** `damaged`: so it was found when it was last verified. */
  state: z.enum(['verified', 'damaged', 'failed']),
  createdAtMs: atMs,
  job: z.nullable(word),
  scope: z.unknown(),
  provenAtMs: z.nullable(atMs),
  error: z.nullable(z.string()),
  /** Ids of its chats that were found damaged, the first of them. */
  damaged: z.array(z.string()),
})

const jobNote = z.object({
  schedule: z.string(),
  timeZone: z.string(),
  /** When it is to run next. */
  dueAtMs: atMs,
  /** In a row, since the last run that was made. */
  failures: z.number(),
  /** Until a run is made it is to be tried again then. */
  retryAtMs: z.nullable(atMs),
  error: z.nullable(z.string()),
})

const notes = z.object({ runs: z.record(word, runNote), jobs: z.record(word, jobNote) })

export type RunNote = z.infer<typeof runNote>
export type JobNote = z.infer<typeof jobNote>

const FAILED_MAX = 50

/**
 * What is known of runs beside what lies in the archive folder, and when jobs are due: in a small file of the data
 * folder. Lost, it costs the memory of what failed, and a missed run is then told by when the job ran last.
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
    for (const former of failed.slice(0, -FAILED_MAX)) this.#runs.delete(former)
    this.#save()
  }

  /** @param names of the runs that there are; what was noted of others, but that they failed, is forgotten */
  forgetAllBut(names: ReadonlySet<string>): void {
    for (const [name, { state }] of this.#runs) if (state !== 'failed' && !names.has(name)) this.#runs.delete(name)
    this.#save()
  }

  /** Takes a text out of what runs were asked to archive. */
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

  /** Written beside and renamed; what cannot be written now is written with the next note. */
  #save(): void {
    const text = JSON.stringify({ runs: Object.fromEntries(this.#runs), jobs: Object.fromEntries(this.#jobs) })
    try {
      writePrivately(this.#path, text)
    } catch (error) {
      // A full disk must not take the daemon with it.
      if (!(error instanceof Error && 'code' in error)) throw error
    }
  }
}

function load(path: string): z.infer<typeof notes> {
  try {
    return notes.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    // Missing, or not as it was written: it can be lost.
    return { runs: {}, jobs: {} }
  }
}

/** Runs that were made, where the folder that held them is not there: it lies on a disk that was taken away, or elsewhere now. */
export function runsOutOfReach({ runs }: ArchiveNotes, dir: string): readonly string[] {
  if (existsSync(join(dir, 'runs'))) return []
  return [...runs].flatMap(([name, { state }]) => (state === 'failed' ? [] : [name]))
}
