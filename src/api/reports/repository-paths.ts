import { posix } from 'node:path'
import type { Repository } from '../../model/commit.ts'

/**
 * Converts a path from a chat to a path as in git.
 * @param root the folder of the chat's project, as Cursor writes it. Relative paths start there
 * @returns null if the path is outside the repository
 */
export function repositoryPath(path: string, root: string, { topLevels }: RepositoryPlace): string | null {
  const named = slashed(path, hasBackslashes.test(root))
  const absolute = isAbsolute(named) ? named : `${slashed(root)}/${named}`
  const clean = folded(posix.normalize(absolute))
  const top = topLevels.find((each) => clean.startsWith(each === '/' ? '/' : `${each}/`))
  return top === undefined ? null : clean.slice(top === '/' ? 1 : top.length + 1)
}

/** The location of a repository, in all known spellings. */
export interface RepositoryPlace {
  readonly topLevels: readonly string[]
}

/** Git resolves symbolic links, but Cursor stores the path with which the folder was opened. */
export function placeOf({ root, topLevel, prefix }: Repository): RepositoryPlace {
  const opened = folded(posix.normalize(slashed(root))).replace(/(?<=.)\/+$/, '')
  const below = folded(prefix).replace(/\/$/, '')
  const isPlain = below === '' || opened.endsWith(`/${below}`)
  const top = below === '' ? opened : opened.slice(0, -below.length - 1) || '/'
  return { topLevels: [...new Set([...(isPlain ? [top] : []), folded(slashed(topLevel))])] }
}

/** Whether a folder is the top folder of the repository or inside it. */
export function liesIn(root: string, { topLevels }: RepositoryPlace): boolean {
  const folder = folded(posix.normalize(slashed(root))).replace(/(?<=.)\/+$/, '')
  return topLevels.some((top) => folder === top || folder.startsWith(top === '/' ? '/' : `${top}/`))
}

/** A path of git in the form used for comparison. @param place shows whether the file system ignores case */
export const gitPath = (path: string, { topLevels }: RepositoryPlace): string =>
  folded(
    path,
    topLevels.some((top) => /^[a-z]:/.test(top)),
  )

const isAbsolute = (path: string): boolean => path.startsWith('/') || /^[a-z]:\//i.test(path)

/** The beginning of an absolute Windows path. */
const hasBackslashes = /^(?:[a-z]:[\\/]|\/[a-z]:\/|\\\\)/i

/** `/c:/shop` and `C:\shop` are the same folder. */
const slashed = (path: string, isOnWindows = hasBackslashes.test(path)): string => {
  return isOnWindows ? path.replaceAll('\\', '/').replace(/^\/(?=[a-z]:)/i, '') : path.replace(/^\.\//, '')
}

/** macOS stores accents separately from their letters. Windows ignores case. */
function folded(path: string, isWithoutCase = /^[a-z]:\//i.test(path)): string {
  const composed = path.normalize('NFC')
  return isWithoutCase ? composed.toLowerCase() : composed
}
