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
 * Removes the runs of a job that are not kept, and then the objects that no run names. Must not overlap with a run. If all
 * counts are 0, all runs stay. The newest run always stays.
 * @param origin the mirror. Runs of other mirrors stay: a job of another mirror may have the same name.
 */
export async function prune(dir: string, { job, keep }: PruneOrder, origin: string): Promise<void> {
  const read = listRunNames(dir).map((name) => readManifest(dir, name))
  const runs = read.flatMap((run) => (run.kind === 'sound' ? run.value : []))
  const ofJob = runs.filter((run) => run.job === job && run.origin === origin)
  const kept = keptOf(ofJob, keep)
  const removed = ofJob.filter((run) => !kept.has(run))
  const paths = removed.map(({ name }) => runPath(name))
  for (const path of paths) rmSync(join(dir, path))
  // The removal of the runs must be on the disk first: a run that came back after a power cut would lack its objects.
  await syncFolders(dir, paths)
  // What the objects of a damaged run are is unknown, so none is removed.
  if (runs.length < read.length) return
  const staying = runs.filter((run) => !removed.includes(run))
  const named = new Set(staying.flatMap(({ chats }) => chats.map(({ object }) => object)))
  for (const hash of listObjects(dir)) if (!named.has(hash)) removeObject(dir, hash)
}

const DAY_MS = 86_400_000

/** Days, months, and weeks, which start on Monday, are those of UTC. @param runs oldest first */
function keptOf(runs: readonly Manifest[], { daily, weekly, monthly }: PruneOrder['keep']): ReadonlySet<Manifest> {
  if (daily + weekly + monthly === 0) return new Set(runs)
  const newestOfEach = (count: number, periodOf: (createdAt: string) => string): readonly Manifest[] => {
    const newest = new Map<string, Manifest>()
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
