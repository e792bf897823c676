import { lstatSync } from 'node:fs'

/** False also where one may not look: what cannot be entered costs nothing beside it. A link is no folder. */
export function isFolder(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false
    throw error
  }
}
