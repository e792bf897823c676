import { lstatSync } from 'node:fs'
import { basename, join } from 'node:path'
import { objectPath } from '../../archive/manifest.ts'
import { isSystemLitter } from '../../model/system-litter.ts'
import { BARS_FILE } from '../../mirror/purge/bars.ts'
import type { ArchiveVerdict } from '../answers/archives.ts'
import type { Progress } from '../../model/progress.ts'
import {
  ARCHIVE_LOCK,
  isUnfinished,
  objectAt,
  pathsBelow,
  readManifest,
  realFolder,
  runAt,
  whyUnsound,
} from './archive-files.ts'

/**
 * Reads every byte below the archive folder, and compares it with its checksum: manifests with their own, and objects
 * with their names. Follows no link. Yields progress.
 */
export function* verifyArchive(given: string): Generator<Progress, Omit<ArchiveVerdict, 'name'>> {
  const dir = realFolder(given)
  const paths = [...pathsBelow(dir)].sort()
  const objects = paths.flatMap((path) => objectAt(path) ?? [])
  const runs = paths.flatMap((path) => runAt(path) ?? [])
  const unexpected = paths.filter((path) => (objectAt(path) ?? runAt(path)) === null && !isHarmless(dir, path))
  const sound = new Set<string>()
  for (const [index, object] of objects.entries()) {
    if (whyUnsound(dir, object) === null) sound.add(object)
    yield { done: index + 1, total: objects.length }
  }
  const damaged = new Set<string>()
  const damagedRuns = new Map<string, string | null>()
  const named = new Set<string>()
  for (const name of runs) {
    const manifest = readManifest(dir, name)
    const chats = manifest.kind === 'sound' ? manifest.value.chats : []
    const wrong = chats.filter(({ object }) => !sound.has(object))
    if (manifest.kind === 'damaged') damagedRuns.set(name, manifest.why)
    else if (wrong.length > 0) damagedRuns.set(name, null)
    for (const { id } of wrong) damaged.add(id)
    for (const { object } of chats) named.add(object)
  }
  for (const object of objects) if (!sound.has(object) && !named.has(object)) unexpected.push(objectPath(object))
  return {
    ok: damaged.size === 0 && damagedRuns.size === 0 && unexpected.length === 0,
    checked: runs.length + new Set([...objects, ...named]).size,
    damaged: [...damaged],
    damagedRuns: [...damagedRuns].map(([name, why]) => ({ name, why })),
    unexpected,
  }
}

/** The lock, the bars of purges, what an interrupted run leaves, or what an operating system leaves. The lock is not opened: that would release it. */
function isHarmless(dir: string, path: string): boolean {
  const stat = lstatSync(join(dir, path))
  if (!stat.isFile()) return false
  if (path === ARCHIVE_LOCK) return stat.size === 0
  // Earlier builds wrote the bars as `user.db`.
  if (path === BARS_FILE || path === 'user.db') return true
  return isUnfinished(path) || isSystemLitter(basename(path))
}
