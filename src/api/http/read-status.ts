import { statSync } from 'node:fs'
import type { Mirror } from '../../mirror/open.ts'
import { UserError } from '../../model/user-error.ts'
import { cached } from '../queries/rows.ts'
import { countEverything, EMPTY_CENSUS, listSources } from '../queries/sources.ts'
import { indexPath } from '../../mirror/index/index-file.ts'
import type { ApiContext } from '../context.ts'
import type { Status } from '../answers/status.ts'

export type ReadStatus = () => Status

/** Makes the reader behind `/status`, the page and the first event. They share one, and so its caches. */
export function createStatusReader(context: ApiContext): ReadStatus {
  let census = cached(countEverything)
  let wasReady = false
  return () => {
    const { mirrorPath, wasAllRead: _, ...live } = context.live()
    const db = mirrorIfAny(context)
    // Counts made during the first pass are out of date when it ends, even if the cache would keep them.
    if (live.state === 'ready' && !wasReady) census = cached(countEverything)
    wasReady ||= live.state === 'ready'
    const ftsBytes = measureFile(indexPath(mirrorPath))
    return {
      ...live,
      version: context.version,
      sources: db === null ? [] : listSources(db),
      ...(db === null ? EMPTY_CENSUS : census(db)),
      mirror: { path: mirrorPath, bytes: measureFile(mirrorPath) + ftsBytes, ftsBytes },
      archives: context.archives.health(),
      excluded: context.excluded,
    }
  }
}

/** Bytes of a database on disk, with its WAL; 0 if there is none. */
function measureFile(path: string): number {
  const sizes = [path, `${path}-wal`].map((file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0)
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Null if there is no mirror yet: a daemon that has just started must still report its status. */
function mirrorIfAny(context: ApiContext): Mirror | null {
  try {
    return context.mirror()
  } catch (error) {
    if (error instanceof UserError && error.code === 'mirror-missing') return null
    throw error
  }
}
