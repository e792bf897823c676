import { statSync, type BigIntStats, lstatSync, closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

/** Device and inode. Another identity means another file, even under the same name. */
export const identityOf = ({ dev, ino }: Pick<BigIntStats, 'dev' | 'ino'>): string => `${dev}:${ino}`

/**
 * Uses `stat` alone. Null if nothing is at the path.
 * @throws Error if it may not be examined
 */
export function identityAt(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stat === undefined ? null : identityOf(stat)
}

/**
 * Removes folders that are named a second time: by a link, or in other letters where the file system ignores case.
 * Otherwise a store would be read twice, with all its issues. The first name is kept.
 */
export function eachFolderOnce(paths: readonly string[]): string[] {
  const byIdentity = new Map<string, string>()
  for (const path of paths) {
    const identity = nameOf(path)
    if (!byIdentity.has(identity)) byIdentity.set(identity, path)
  }
  return [...byIdentity.values()]
}

/**
 * A folder that does not exist, may not be examined, or is on a file system without inode numbers is identified by its
 * name.
 */
function nameOf(path: string): string {
  try {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
    return stat === undefined || stat.ino === 0n ? path : identityOf(stat)
  } catch (error) {
    if (error instanceof Error && 'code' in error) return path
    throw error
  }
}

/**
 * True also if the path may not be examined: the pass of its source then says so, without affecting others. A link is not
 * a folder.
 */
export function mayBeFolder(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
  } catch (error) {
    if (error instanceof Error && 'code' in error) return !isAbsence(error)
    throw error
  }
}

/** True also if nobody knows, because the path may not be examined. */
export function mayExist(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    return !isAbsence(error)
  }
}

const NOTHING_THERE: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP'])

/** Whether an error of the file system means that nothing is there. Any other one means that nobody knows. */
export const isAbsence = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && NOTHING_THERE.has(error.code)

export type PlainFile =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'too-large' | 'unreadable' }

/**
 * Reads a small file of Cursor's that is not a database. Links are not followed, and other users' files are not read.
 * Everything that can be wrong with the file is a result, not an error.
 */
export function readPlainFile(path: string, bytesMax: number): PlainFile {
  try {
    const file = openSync(path, constants.O_RDONLY | noFollow)
    try {
      const stat = fstatSync(file)
      if (!stat.isFile() || isForeign(stat.uid)) return { kind: 'unreadable' }
      return stat.size > bytesMax ? { kind: 'too-large' } : { kind: 'bytes', bytes: readFileSync(file) }
    } finally {
      closeSync(file)
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error) return { kind: 'unreadable' }
    throw error
  }
}

// Windows has no such flag. There, only the directory listing recognises a link.
const noFollow = 'O_NOFOLLOW' in constants ? constants.O_NOFOLLOW : 0

function isForeign(uid: number): boolean {
  const us = process.geteuid?.()
  return us !== undefined && uid !== us
}
