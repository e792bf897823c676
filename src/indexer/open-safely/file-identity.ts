import { statSync, type BigIntStats, lstatSync } from 'node:fs'

/** Device and inode: another identity means another file, however alike its name. */
export const identityOf = ({ dev, ino }: Pick<BigIntStats, 'dev' | 'ino'>): string => `${dev}:${ino}`

/** By `stat` alone. Null while nothing lies there. @throws Error where it may not be looked at */
export function identityAt(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stat === undefined ? null : identityOf(stat)
}

/**
 * The folders without those that are named a second time: by a link, or, where letters of either case name one file, in
 * other letters. Read twice, a store would be told twice, and each of its issues. The first name stays.
 */
export function eachFolderOnce(paths: readonly string[]): string[] {
  const byIdentity = new Map<string, string>()
  for (const path of paths) {
    const identity = nameOf(path)
    if (!byIdentity.has(identity)) byIdentity.set(identity, path)
  }
  return [...byIdentity.values()]
}

/** What is not there, may not be looked at, or lies where files have no numbers, is told from others by its name alone. */
function nameOf(path: string): string {
  try {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
    return stat === undefined || stat.ino === 0n ? path : identityOf(stat)
  } catch (error) {
    if (error instanceof Error && 'code' in error) return path
    throw error
  }
}

/** False also where one may not look: what cannot be entered costs nothing beside it. A link is no folder. */
export function isFolder(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false
    throw error
  }
}
