import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { Temporal } from 'temporal-polyfill'
import { runPath, type Manifest } from '../../archive/manifest.ts'
import { listObjects, listRunNames, readManifest, removeObject, syncFolders } from './archive-files.ts'

export interface PruneOrder {
  /** Only runs of this job are removed, never a run that a person asked for. */
  readonly job: string
  /** How many runs of the job stay: the newest of each of the last days, weeks and months that have a run. */
  readonly keep: { readonly daily: number; readonly weekly: number; readonly monthly: number }
  /** IANA name of the zone of days, months, and weeks, which start on Monday. */
  readonly timeZone: string
}

/**
 * Removes the runs of a job that are not kept, and then the objects that no run names. Must not overlap with a run. If all
 * counts are 0, all runs stay. The newest run always stays.
 * @param origin the mirror. Runs of other mirrors stay: a job of another mirror may have the same name.
 */
export async function pruneRuns(dir: string, order: PruneOrder, origin: string): Promise<void> {
  const read = listRunNames(dir).map((name) => readManifest(dir, name))
  const runs = read.flatMap((run) => (run.kind === 'sound' ? run.value : []))
  const ofJob = runs.filter((run) => run.job === order.job && run.origin === origin)
  const kept = keptOf(ofJob, order)
  const removed = ofJob.filter(({ name }) => !kept.has(name))
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

/** @param runs oldest first */
function keptOf(runs: readonly Manifest[], { keep, timeZone }: PruneOrder): ReadonlySet<string> {
  const { daily, weekly, monthly } = keep
  if (daily + weekly + monthly === 0) return new Set(runs.map(({ name }) => name))
  const dated = runs.toReversed().map(({ name, createdAt }) => {
    return { name, date: Temporal.Instant.from(createdAt).toZonedDateTimeISO(timeZone).toPlainDate() }
  })
  const newestOfEach = (count: number, periodOf: (date: Temporal.PlainDate) => string): readonly string[] => {
    const newest = new Map<string, string>()
    for (const { name, date } of dated) if (!newest.has(periodOf(date))) newest.set(periodOf(date), name)
    return [...newest.values()].slice(0, count)
  }
  return new Set([
    ...newestOfEach(daily, (date) => date.toString()),
    ...newestOfEach(weekly, (date) => date.subtract({ days: date.dayOfWeek - 1 }).toString()),
    ...newestOfEach(monthly, (date) => date.toPlainYearMonth().toString()),
  ])
}
