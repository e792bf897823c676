import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

const FILE_BYTES_MAX = 1024 * 1024

/** What Cursor wrote down beside a store; null where there is no such file, or it is not ours to read. */
export function readSidecar(path: string): Buffer | null {
  try {
    const file = openSync(path, constants.O_RDONLY | noFollow)
    try {
      const stat = fstatSync(file)
      return stat.isFile() && stat.size <= FILE_BYTES_MAX && !isForeign(stat.uid) ? readFileSync(file) : null
    } finally {
      closeSync(file)
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null
    throw error
  }
}

// Windows has no such flag.
const noFollow = 'O_NOFOLLOW' in constants ? constants.O_NOFOLLOW : 0

function isForeign(uid: number): boolean {
  const us = process.geteuid?.()
  return us !== undefined && uid !== us
}
