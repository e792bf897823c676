import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

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
