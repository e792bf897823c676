import { existsSync } from 'node:fs'
import { explainForbidden } from '../../api/archives/manifest-files.ts'
import { rewriteArchive, type ArchivePurge } from '../../api/archives/purge/rewrite-archive.ts'
import { findScoped, strikeScopes } from '../../api/archives/purge/strike-scopes.ts'
import { surveyArchive, type ArchiveSurvey } from '../../api/archives/purge/survey-archive.ts'
import { openReader } from '../../mirror/open.ts'
import { isInProjects } from '../../mirror/purge/find-chats.ts'
import { Tombstones } from '../../mirror/purge/tombstones.ts'
import type { ChatId } from '../../model/ids.ts'
import { takeArchiveLock } from '../archives/archive-lock.ts'
import { runToCompletion } from '../deferred.ts'
import type { PurgeTaskOrder, PurgeTaskOutcome, PurgeTasks } from './purge-orders.ts'
import { searchRaw } from './byte-scan.ts'

/** @throws UserError `archive-busy` where another program writes to the archive folder; NodeJS.ErrnoException of the disk */
export async function doTask(given: PurgeTaskOrder): Promise<PurgeTaskOutcome> {
  try {
    return await obey(given)
  } catch (error) {
    throw explainForbidden(error)
  }
}

async function obey(given: PurgeTaskOrder): Promise<PurgeTaskOutcome> {
  if (given.task === 'survey') return survey(given.order)
  if (given.task === 'strike') return strike(given.order)
  return given.task === 'rewrite' ? rewrite(given.order) : runToCompletion(searchRaw(given.order))
}

function survey({ dir, mirrorPath, scope, chatIds }: PurgeTasks['survey']['order']): ArchiveSurvey {
  const db = openReader(mirrorPath)
  try {
    const isNamed = (id: ChatId): boolean | null => isInProjects(db, id, scope.projectUris ?? [])
    return runToCompletion(surveyArchive(dir, { scope, chatIds: new Set(chatIds), isInProjects: isNamed }))
  } finally {
    db.close()
  }
}

/** Where there is nothing to be struck, nothing needs to be writable. */
async function strike({ dir, match }: PurgeTasks['strike']['order']): Promise<readonly string[]> {
  if (findScoped(dir, match).next().done === true) return []
  const lock = takeArchiveLock(dir)
  try {
    return await strikeScopes(dir, match)
  } finally {
    lock.release()
  }
}

async function rewrite({ dir, mirrorPath, match }: PurgeTasks['rewrite']['order']): Promise<ArchivePurge> {
  if (!existsSync(dir)) return { objects: 0, messages: 0, runs: [], damaged: [] }
  const lock = takeArchiveLock(dir)
  const db = openReader(mirrorPath)
  try {
    const steps = rewriteArchive(dir, new Tombstones(db), match)
    for (;;) {
      const step = await steps.next()
      if (step.done === true) return step.value
    }
  } finally {
    db.close()
    lock.release()
  }
}
