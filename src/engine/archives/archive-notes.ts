import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { writePrivately } from '../data-folder.ts'

const runNote = z.object({
  /** When the run was last read back, epoch milliseconds. Null if it is damaged. */
  provenAtMs: z.nullable(z.number()),
  /** What is wrong with it. */
  error: z.nullable(z.string()),
})

const jobNote = z.object({
  schedule: z.string(),
  timeZone: z.string(),
  /** When the job runs next, also if that repeats a failed run. Epoch milliseconds. */
  dueAtMs: z.number(),
  /** How many runs failed in a row since the last success. */
  failures: z.number(),
  error: z.nullable(z.string()),
})

const notes = z.object({ runs: z.record(z.string(), runNote), jobs: z.record(z.string(), jobNote) })

export type JobNote = z.infer<typeof jobNote>

/**
 * What the archive folder does not say: which of its runs were found damaged, and when jobs are due. They are in
 * `archives.json` in the data folder.
 */
export class ArchiveNotes {
  readonly #path: string
  readonly runs: Map<string, z.infer<typeof runNote>>
  readonly jobs: Map<string, JobNote>

  constructor(dataDir: string) {
    this.#path = join(dataDir, 'archives.json')
    const { runs, jobs } = load(this.#path)
    this.runs = new Map(Object.entries(runs))
    this.jobs = new Map(Object.entries(jobs))
  }

  /** If this fails, the next call writes everything. */
  save(): void {
    const text = JSON.stringify({ runs: Object.fromEntries(this.runs), jobs: Object.fromEntries(this.jobs) })
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
