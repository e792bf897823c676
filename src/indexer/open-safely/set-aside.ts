import { readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Cursor's name for a store that it could not open. */
const SET_ASIDE = /^\.corrupted\.\d+$/

/** The files that Cursor set aside beside a store. None if the folder may not be listed. */
export function listSetAside(path: string): string[] {
  const [folder, name] = [dirname(path), basename(path)]
  const isSetAside = (other: string): boolean => other.startsWith(name) && SET_ASIDE.test(other.slice(name.length))
  try {
    return readdirSync(folder)
      .filter(isSetAside)
      .map((other) => join(folder, other))
      .sort()
  } catch (error) {
    if (error instanceof Error && 'code' in error) return []
    throw error
  }
}
