import { posix } from 'node:path'
import type { Repository } from '../../model/commit.ts'

/**
 * Makes of the paths that chats name the paths that git names.
 * @param root the folder of the chat's project, as Cursor spells it; relative paths are from there
 * @returns null for what lies outside the repository
 */
export function repositoryPath(path: string, root: string, { topLevels }: RepositoryPlace): string | null {
  const named = slashed(path, hasBackslashes.test(root))
  const absolute = isAbsolute(named) ? named : `${slashed(root)}/${named}`
  const clean = folded(posix.normalize(absolute))
  const top = topLevels.find((each) => clean.startsWith(each === '/' ? '/' : `${each}/`))
  return top === undefined ? null : clean.slice(top === '/' ? 1 : top.length + 1)
}

/** Where a repository lies, in every spelling that is known of it. */
export interface RepositoryPlace {
  readonly topLevels: readonly string[]
}

/** Git resolves links, and Cursor keeps the path by which the folder was opened. */
export function placeOf({ root, topLevel, prefix }: Repository): RepositoryPlace {
  const opened = folded(posix.normalize(slashed(root))).replace(/(?<=.)\/+$/, '')
  const below = folded(prefix).replace(/\/$/, '')
  const isPlain = below === '' || opened.endsWith(`/${below}`)
  const top = below === '' ? opened : opened.slice(0, -below.length - 1) || '/'
  return { topLevels: [...new Set([...(isPlain ? [top] : []), folded(slashed(topLevel))])] }
}

/** True for a folder that is the repository's, or lies in it. */
export function liesIn(root: string, { topLevels }: RepositoryPlace): boolean {
  const folder = folded(posix.normalize(slashed(root))).replace(/(?<=.)\/+$/, '')
  return topLevels.some((top) => folder === top || folder.startsWith(top === '/' ? '/' : `${top}/`))
}

/** A path of git's own, as the others are compared with it. @param place tells whether it is a system without case */
export const gitPath = (path: string, { topLevels }: RepositoryPlace): string =>
  folded(
    path,
    topLevels.some((top) => /^[a-z]:/.test(top)),
  )

const isAbsolute = (path: string): boolean => path.startsWith('/') || /^[a-z]:\//i.test(path)

/** How an absolute path on a system begins where a backslash parts folders. */
const hasBackslashes = /^(?:[a-z]:[\\/]|\/[a-z]:\/|\\\\)/i

/** `/c:/shop` and `C:\shop` are one place. */
const slashed = (path: string, isOnWindows = hasBackslashes.test(path)): string => {
  return isOnWindows ? path.replaceAll('\\', '/').replace(/^\/(?=[a-z]:)/i, '') : path.replace(/^\.\//, '')
}

/** macOS writes accents apart; Windows knows no case. */
function folded(path: string, isWithoutCase = /^[a-z]:\//i.test(path)): string {
  const composed = path.normalize('NFC')
  return isWithoutCase ? composed.toLowerCase() : composed
}
