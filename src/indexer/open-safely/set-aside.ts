import { existsSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Cursor's names for a store that it could not open, and for the copy that it makes when it quits. */
const SET_ASIDE = /^\.(?:corrupted\..+|backup)$/
const BESIDE = /-(?:wal|shm|journal)$/

/** The files beside a store in which Cursor left an earlier state of it. None if the folder may not be listed. */
export function listSetAside(path: string): string[] {
  const name = basename(path)
  return namesIn(dirname(path))
    .filter((other) => other.startsWith(name) && SET_ASIDE.test(other.slice(name.length)) && !BESIDE.test(other))
    .map((other) => join(dirname(path), other))
    .sort()
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (error instanceof Error && 'code' in error) return []
    throw error
  }
}

/**
 * Reads such a file. Cursor does not open it under this name, so what SQLite makes beside a large one, to read it, is
 * ours and is removed.
 */
export function readSetAside<Value>(path: string, read: (path: string) => Value): Value {
  const absent = [`${path}-wal`, `${path}-shm`].filter((name) => !existsSync(name))
  try {
    return read(path)
  } finally {
    for (const name of absent) rmSync(name, { force: true })
  }
}
