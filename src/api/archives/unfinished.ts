import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { UNFINISHED } from './object-files.ts'
import { isFolder } from './plain-files.ts'

/** Removes what a run that was cut short was writing. Nothing else has such a name. */
export function removeUnfinished(dir: string): void {
  const folders = [join(dir, 'runs'), ...foldersIn(join(dir, 'objects'))]
  for (const folder of folders.filter(isFolder)) {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.name.endsWith(UNFINISHED) && !entry.isDirectory()) rmSync(join(folder, entry.name), { force: true })
    }
  }
}

const foldersIn = (path: string): string[] => (isFolder(path) ? readdirSync(path).map((name) => join(path, name)) : [])
