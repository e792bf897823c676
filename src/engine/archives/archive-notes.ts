import { join } from 'node:path'
import * as z from 'zod/mini'
import { readRegular } from '../../regular-file.ts'
import { writePrivately } from '../data-folder.ts'
import { jobNote } from '../due-jobs.ts'

const runNote = z.object({
  /** When the run was last read back, epoch milliseconds. Null if it is damaged. */
  provenAtMs: z.nullable(z.number()),
  /** What is wrong with it. */
  error: z.nullable(z.string()),
})

const archiveNotes = z.object({ runs: z.record(z.string(), runNote), jobs: z.record(z.string(), jobNote) })

/**
 * What the archive folder does not say: which of its runs were found damaged, and when jobs are due. Both by name, in
 * `archives.json` in the data folder.
 */
export type ArchiveNotes = z.infer<typeof archiveNotes>

const NOTES_BYTES_MAX = 2 * 1024 * 1024

const pathOf = (dataDir: string): string => join(dataDir, 'archives.json')

export function loadNotes(dataDir: string): ArchiveNotes {
  try {
    return archiveNotes.parse(JSON.parse(readRegular(pathOf(dataDir), NOTES_BYTES_MAX).toString()))
  } catch {
    // The file is missing, damaged, or no file. It may be lost.
    return { runs: {}, jobs: {} }
  }
}

/** If this fails, the next call writes everything. */
export function saveNotes(dataDir: string, notes: ArchiveNotes): void {
  try {
    writePrivately(pathOf(dataDir), JSON.stringify(notes))
  } catch (error) {
    // A full disk must not end the daemon.
    if (!(error instanceof Error && 'code' in error)) throw error
  }
}
