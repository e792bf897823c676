import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { restore, type RestoreOrder, type RestoreResult } from '../../src/engine/restore.ts'
import type { Mirror } from '../../src/mirror/open.ts'

/** Restores an archive folder in the test's own process. */
export async function restoreHere(db: Mirror, dir: string, more: Partial<RestoreOrder> = {}): Promise<RestoreResult> {
  const order = { dir, isOwn: false, name: null, map: {}, ...more }
  const act = restore(order, { mirror: () => db, now: Date.now })
  for (;;) {
    const step = await act.next()
    if (step.done === true) return step.value
  }
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
