import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isUserFolder, userFolderParts } from '../indexer/discover.ts'
import type { Mirror } from '../mirror/open.ts'
import { listExcludedProjects } from '../mirror/projects/exclusion.ts'
import type { PendingLoss } from '../model/pass.ts'
import type { SourceEnd } from './writer/writer.ts'

/** Why the mirror does not have everything that Cursor has, as sentences. A file that several sources read is named once. */
export function sourceReasons(ends: readonly SourceEnd[]): string[] {
  return [...new Set(ends.flatMap((end) => [...unreadReason(end), ...pendingReason(end)]))]
}

const unreadReason = ({ state, path, detail }: SourceEnd): string[] =>
  state === 'ok' || state === 'missing' ? [] : [`${state}: ${path}${detail === null ? '' : `: ${detail}`}`]

const pendingReason = ({ path, pendingLoss }: SourceEnd): string[] =>
  pendingLoss === null ? [] : [`pending-loss: ${path}: ${pendingLossText(pendingLoss)}`]

/** The sentence about a pending loss, for the status and the doctor. */
export function pendingLossText({ rows, of }: Pick<PendingLoss, 'rows' | 'of'>): string {
  const [missing, all] = [rows, of].map((count) => count.toLocaleString('en-US'))
  return `${missing} of ${all} rows are missing; the store is being compared once more before they count as deleted. A daemon does that within a minute. "cursordex sync --full" does it now.`
}

/**
 * A sentence for each folder in the settings that exists and is not a `User` folder of Cursor: probably a parent, a
 * subfolder or a file was named. It is watched anyway, because Cursor may still create its folders there.
 */
export function misconfiguredFolders(userDirs: readonly string[]): string[] {
  return userDirs
    .filter((userDir) => existsSync(userDir) && !isUserFolder(userDir))
    .map((userDir) => {
      const near = [join(userDir, 'User'), join(userDir, 'Cursor', 'User'), dirname(userDir), dirname(dirname(userDir))]
      const meant = near.find(isUserFolder)
      const remedy = meant === undefined ? 'Name another folder with' : `Perhaps you meant ${meant}:`
      return `No Cursor chats are in ${userDir}: it contains neither ${userFolderParts.join(' nor ')}. ${remedy} --cursor-user-dir.`
    })
}

/** A sentence for each excluded project of which the mirror still has chats, with the command that removes them. */
export function excludedChats(mirror: () => Mirror, patterns: readonly string[]): string[] {
  if (patterns.length === 0) return []
  return listExcludedProjects(mirror(), patterns).map(({ id, name, path, chats }) => {
    const count = `${chats.toLocaleString('en')} ${chats === 1 ? 'chat' : 'chats'}`
    return `The mirror has ${count} of ${name} (${path}), which exclude.projects leaves out. To remove them for good: cursordex purge --project ${id} --yes`
  })
}
