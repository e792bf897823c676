import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ArchiveRestored } from '../../src/api/answers/archives.ts'
import { restoreArchive, restorePart, type RestoredPart, type RestorePart } from '../../src/engine/restore.ts'
import type { Mirror } from '../../src/mirror/open.ts'

/** Restores a part of an archive in the test's own process. */
export function restorePartHere(db: Mirror, part: RestorePart): RestoredPart {
  const steps = restorePart(part, () => db, Date.now)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Restores an archive folder in the test's own process. */
export async function restoreHere(db: Mirror, dir: string): Promise<ArchiveRestored> {
  const request = { name: 'newest', from: null, map: {} }
  const write = async (part: RestorePart): Promise<RestoredPart> => restorePartHere(db, part)
  return restoreArchive(request, dir, write, () => undefined)
}

/** All files below a folder with size and modification time; equal if nothing was changed. */
export function stateOf(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => {
      const { size, mtimeMs } = statSync(join(parentPath, name))
      return `${join(parentPath, name)} ${size} ${mtimeMs}`
    })
    .sort()
}
