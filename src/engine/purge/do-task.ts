import { existsSync } from 'node:fs'
import { explainDisk } from '../../api/archives/archive-files.ts'
import {
  rewriteArchive,
  surveyArchive,
  type ArchivePurge,
  type ArchiveSurvey,
} from '../../api/archives/purge-archive.ts'
import { openReader } from '../../mirror/open.ts'
import { Tombstones } from '../../mirror/purge/tombstones.ts'
import { takeArchiveLock } from '../archives/archive-job.ts'
import { scanBytes } from './byte-scan.ts'
import type { PurgeTaskOrder, PurgeTaskOutcome, PurgeTasks } from './purge-orders.ts'

/** @throws UserError `archive-busy` if another program writes to the archive folder; NodeJS.ErrnoException of the disk */
export async function doTask(given: PurgeTaskOrder): Promise<PurgeTaskOutcome> {
  try {
    if (given.task === 'survey') return survey(given.order)
    if (given.task === 'rewrite') return await rewrite(given.order)
    return await scanBytes(given.order)
  } catch (error) {
    throw explainDisk(error)
  }
}

function survey({ dir, mirrorPath, scope, chatIds }: PurgeTasks['survey']['order']): ArchiveSurvey {
  const db = openReader(mirrorPath)
  try {
    return surveyArchive(db, dir, scope, new Set(chatIds))
  } finally {
    db.close()
  }
}

async function rewrite({ dir, mirrorPath, match }: PurgeTasks['rewrite']['order']): Promise<ArchivePurge> {
  if (!existsSync(dir)) return { objects: 0, messages: 0, runs: [], damaged: [] }
  const lock = takeArchiveLock(dir)
  const db = openReader(mirrorPath)
  try {
    return await rewriteArchive(dir, new Tombstones(db), match)
  } finally {
    db.close()
    lock.release()
  }
}
