import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { runPath, type Manifest } from '../../archive/manifest.ts'
import { listObjects, listRunNames, readManifest, removeObject, syncFolders } from './archive-files.ts'

export interface PruneOrder {
  /** Only runs of this job are removed, never a run that a person asked for. */
  readonly job: string
  /** How many runs of the job stay: the newest of each of the last days, weeks and months that have a run. */
  readonly keep: { readonly daily: number; readonly weekly: number; readonly monthly: number }
}

/**
 * Removes the runs of a job that are not kept, and then the objects that no run names: those of removed runs, and what a
 * killed run left. Must not overlap with a run, so the caller holds the folder's lock. If all counts are 0, all runs stay.
 * The newest run always stays.
 * @param order null if no run is removed
 * @param origin the mirror. Runs of other mirrors stay: a job of another mirror may have the same name.
 */
export async function prune(dir: string, order: PruneOrder | null, origin: string): Promise<void> {
  const removed = order === null ? [] : runsToRemove(dir, order, origin)
  const paths = removed.map((name) => runPath(name))
  for (const path of paths) rmSync(join(dir, path))
  // The removal of the runs must be on the disk first: a run that came back after a power cut would lack its objects.
  await syncFolders(dir, paths)
  const named = new Set<string>()
  for (const name of listRunNames(dir)) {
    const run = readManifest(dir, name)
    // What the objects of a damaged run are is unknown, so none is removed.
    if (run.kind === 'damaged') return
    for (const { object } of run.value.chats) named.add(object)
  }
  for (const hash of listObjects(dir)) if (!named.has(hash)) removeObject(dir, hash)
}

type RunHead = Pick<Manifest, 'name' | 'createdAt'>

/** One run after the other is read, because all of them may be larger than the memory. */
function runsToRemove(dir: string, { job, keep }: PruneOrder, origin: string): readonly string[] {
  const ofJob = listRunNames(dir).flatMap((name): RunHead[] => {
    const run = readManifest(dir, name)
    if (run.kind === 'damaged' || run.value.job !== job || run.value.origin !== origin) return []
    return [{ name, createdAt: run.value.createdAt }]
  })
  const kept = keptOf(ofJob, keep)
  return ofJob.filter((run) => !kept.has(run)).map(({ name }) => name)
}

const DAY_MS = 86_400_000

/** Days, months, and weeks, which start on Monday, are those of UTC. @param runs oldest first */
function keptOf(runs: readonly RunHead[], { daily, weekly, monthly }: PruneOrder['keep']): ReadonlySet<RunHead> {
  if (daily + weekly + monthly === 0) return new Set(runs)
  const newestOfEach = (count: number, periodOf: (createdAt: string) => string): readonly RunHead[] => {
    const newest = new Map<string, RunHead>()
    for (const run of runs.toReversed()) {
      const period = periodOf(run.createdAt)
      if (!newest.has(period)) newest.set(period, run)
    }
    return [...newest.values()].slice(0, count)
  }
  return new Set([
    ...newestOfEach(daily, (createdAt) => createdAt.slice(0, 10)),
    // The first day that is counted, 1 January 1970, was a Thursday.
    ...newestOfEach(weekly, (createdAt) => String(Math.floor((Date.parse(createdAt) / DAY_MS + 3) / 7))),
    ...newestOfEach(monthly, (createdAt) => createdAt.slice(0, 7)),
  ])
}
