import { discoverSources } from '../indexer/discover.ts'
import type { Source } from '../indexer/source.ts'
import { isClean } from '../mirror/damage/clean-mark.ts'
import { indexPath, isFollowed } from '../mirror/index/index-file.ts'
import { openReader, type Mirror } from '../mirror/open.ts'
import { leavesOut } from '../mirror/projects/place-chats.ts'
import { hasAllBars } from '../mirror/purge/bars.ts'
import { listRead, type ReadSource } from '../mirror/sources/sources.ts'
import { isOfThisVersion } from '../mirror/upgrade.ts'
import { countUncounted, hasEstimates } from '../mirror/usage/estimates.ts'
import { newestReference } from '../mirror/write/references.ts'
import { countUnplaced } from '../mirror/write/write.ts'
import type { WriterSetup } from './writer/writer.ts'

/**
 * Whether a pass over what is new would find nothing to do: the mirror is of this version, was closed in order, waits for
 * nothing, and has read every store as it is now. It only reads the mirror, and of Cursor only what `stat` says. False if
 * that cannot be told: the writer says why.
 */
export function isAllRead(setup: WriterSetup): boolean {
  if (!isClean(setup.mirrorPath)) return false
  let mirror: Mirror | null = null
  try {
    mirror = openReader(setup.mirrorPath, { isIndexWanted: false })
    return (
      isOfThisVersion(mirror) &&
      leavesOut(mirror, setup.excludedProjects ?? []) &&
      hasEstimates(mirror) === (setup.isEstimating ?? true) &&
      countUncounted(mirror) + countUnplaced(mirror) === 0 &&
      areUnchanged(discoverSources(setup), listRead(mirror), newestReference(mirror)) &&
      isFollowed(indexPath(setup.mirrorPath), mirror) &&
      hasAllBars(mirror, setup.archiveDir ?? '')
    )
  } catch {
    return false
  } finally {
    mirror?.close()
  }
}

/** @param newest the number of the last reference in a message to another value */
function areUnchanged(sources: readonly Source[], read: readonly ReadSource[], newest: number): boolean {
  const known = new Map(read.map((each) => [each.id, each]))
  const isUnchanged = (source: Source): boolean => {
    const before = known.get(source.id)
    known.delete(source.id)
    if (before?.decoder !== source.decoder || before.hasMissed === 1) return false
    const signature = source.signature()
    if (signature === null || before.state !== 'ok') return signature === null && before.state === 'missing'
    if (source.readsReferences === true) return newest <= (before.watermark ?? 0)
    const sinceMs = Date.now() - (before.countedAtMs ?? -Infinity)
    return signature === before.signature || (sinceMs >= 0 && sinceMs < (source.everyMs ?? 0))
  }
  return sources.every(isUnchanged) && [...known.values()].every(({ state }) => state === 'missing')
}
