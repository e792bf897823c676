import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isObjectHash, isRunName, objectPath, runPath } from '../../archive/names.ts'
import { isSystemLitter } from '../../model/system-litter.ts'
import type { DamagedRun, Progress } from '../http/schemas/archives.ts'
import { ARCHIVE_LOCK, isFolder, realFolder, UNFINISHED } from './archive-files.ts'
import { readManifest } from './manifest-files.ts'
import { proveChat, sumOf } from './prove-object.ts'

export interface Verdict {
  readonly ok: boolean
  /** Number of manifests and objects that were read completely. */
  readonly checked: number
  /** Ids of the chats with a damaged or missing object. */
  readonly damaged: readonly string[]
  readonly damagedRuns: readonly DamagedRun[]
  /** Runs in which no damage was found. */
  readonly soundRuns: readonly string[]
  /** Files of an interrupted run: objects that no manifest names, and temporary files. */
  readonly leftovers: readonly string[]
  /** What does not belong to an archive, and damaged objects that no manifest names. */
  readonly unexpected: readonly string[]
}

/**
 * Reads every byte below the archive folder. Compares manifests with their checksums, and objects with their names and
 * with every manifest that names them. Follows no link. Yields progress.
 */
export async function* verifyArchive(given: string): AsyncGenerator<Progress, Verdict> {
  const dir = realFolder(given)
  const found = lookInto(dir)
  const damaged = new Set<string>()
  const damagedRuns = new Map<string, string | null>()
  /** What each object holds; null if it is damaged or missing. */
  const sums = new Map<string, string | null>()
  const examine = async (object: string): Promise<string | null> => {
    const known = sums.get(object)
    if (known !== undefined) return known
    const read = await proveChat(dir, object, null)
    const sum = read.kind === 'sound' ? read.value.sum : null
    sums.set(object, sum)
    return sum
  }
  for (const name of found.runs) {
    const manifest = readManifest(dir, name)
    if (manifest.kind === 'damaged') damagedRuns.set(name, manifest.why)
    for (const entry of manifest.kind === 'sound' ? manifest.value.chats : []) {
      const isSound = (await examine(entry.object)) === sumOf(entry)
      yield { done: sums.size, total: Math.max(sums.size, found.objects.length) }
      if (isSound) continue
      damaged.add(entry.id)
      damagedRuns.set(name, null)
    }
  }
  const unnamed = found.objects.filter((object) => !sums.has(object))
  for (const object of unnamed) {
    const isSound = (await examine(object)) !== null
    yield { done: sums.size, total: Math.max(sums.size, found.objects.length) }
    const list = isSound ? found.leftovers : found.unexpected
    list.push(objectPath(object))
  }
  return {
    ok: damaged.size === 0 && damagedRuns.size === 0 && found.unexpected.length === 0,
    checked: found.runs.length + sums.size,
    damaged: [...damaged],
    damagedRuns: [...damagedRuns].map(([name, why]) => ({ name, why })),
    soundRuns: found.runs.filter((name) => !damagedRuns.has(name)),
    leftovers: found.leftovers.toSorted(),
    unexpected: found.unexpected.toSorted(),
  }
}

interface Found {
  readonly runs: string[]
  readonly objects: string[]
  readonly leftovers: string[]
  readonly unexpected: string[]
}

/** Sorts everything below the folder into one of the lists, by relative paths with slashes. */
function lookInto(dir: string): Found {
  const found: Found = { runs: [], objects: [], leftovers: [], unexpected: [] }
  for (const path of isFolder(dir) ? pathsBelow(dir, '') : []) {
    const [, run = ''] = /^runs\/(.*)\.json$/.exec(path) ?? []
    const [, hash = ''] = /\/([0-9a-f]{64})\.jsonl\.gz$/.exec(path) ?? []
    if (isRunName(run) && path === runPath(run)) found.runs.push(run)
    else if (isObjectHash(hash) && path === objectPath(hash)) found.objects.push(hash)
    else if (isOurs(dir, path)) continue
    else if (/^(runs|objects\/[0-9a-f]{2})\/[^/]*$/.test(path) && path.endsWith(UNFINISHED)) found.leftovers.push(path)
    else found.unexpected.push(path)
  }
  return found
}

/** Everything but the folders of an archive. Other folders are not opened. */
function* pathsBelow(dir: string, folder: string): Generator<string> {
  for (const entry of readdirSync(join(dir, folder), { withFileTypes: true })) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    const isFolderOfOurs = entry.isDirectory() && /^(runs|objects|objects\/[0-9a-f]{2})$/.test(path)
    if (isFolderOfOurs) yield* pathsBelow(dir, path)
    else yield path
  }
}

/** The lock, or what an operating system leaves. The lock is not opened: closing it would release it. */
function isOurs(dir: string, path: string): boolean {
  const stat = lstatSync(join(dir, path))
  if (!stat.isFile()) return false
  return path === ARCHIVE_LOCK ? stat.size === 0 : isSystemLitter(path.slice(path.lastIndexOf('/') + 1))
}
