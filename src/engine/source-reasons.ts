import { existsSync, readFileSync } from 'node:fs'
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

/**
 * Warnings about the machine for the start of the daemon. Each is a sentence with a remedy.
 * @param places all `User` folders and homes where Cursor may have chats
 * @param accounts the contents of `/etc/passwd`
 */
export function startupWarnings(
  places: readonly string[],
  asksForToken: boolean,
  accounts = readText('/etc/passwd'),
): string[] {
  return [...noCursor(places), ...(asksForToken ? [] : otherPeople(accounts))]
}

function noCursor(places: readonly string[]): string[] {
  if (places.some((place) => existsSync(place))) return []
  const searched = places.length === 0 ? 'nowhere, because no folder is set' : `in ${places.join(', ')}`
  const isWindowsBelow = process.platform === 'linux' && /microsoft/i.test(readText('/proc/version'))
  const remedy = isWindowsBelow
    ? 'The files of a Cursor on the Windows side of this WSL cannot be read safely from here: then run cursordex in Windows.'
    : 'cursordex waits for it to appear.'
  return [
    `No Cursor found: looked ${searched}. ${remedy} Name another folder with --cursor-user-dir or --cursor-home, or see it work without Cursor: cursordex demo.`,
  ]
}

function otherPeople(accounts: string): string[] {
  if (process.platform !== 'linux') return []
  const us = process.getuid?.()
  const others = accounts
    .split('\n')
    .map((line) => line.split(':'))
    .filter(
      ([, , uid, , , , shell]) => Number(uid) >= 1000 && Number(uid) < 60_000 && Number(uid) !== us && isShell(shell),
    )
  if (others.length === 0) return []
  return ['Other people have accounts on this machine and can reach the HTTP port. Use --auth to require the token.']
}

const isShell = (shell: string | undefined): boolean => shell !== undefined && !/(nologin|false|sync)$/.test(shell)

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The file is missing or unreadable.
    return ''
  }
}
