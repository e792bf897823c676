import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { objectPath, runPath } from '../../archive/names.ts'
import { listRuns } from './list-runs.ts'
import { listRunNames, readManifest } from './manifest-files.ts'
import { syncFolders } from './object-files.ts'
import { removeFile } from './plain-files.ts'
import { listObjects } from './purge/read-objects.ts'
import { Temporal } from 'temporal-polyfill'

export interface PruneOrder {
  /** Only runs of this job are removed, never a run that a person asked for. */
  readonly job: string
  readonly keep: Keep
  readonly timeZone: string
}

export interface PruneOutcome {
  /** Names of the runs that were removed. */
  readonly runs: readonly string[]
  readonly objects: number
}

/**
 * Removes the runs of a job that are not kept, and then the objects that no run names. Must not overlap with a run.
 * @param origin the mirror. Runs of other mirrors stay: a job of another mirror may have the same name.
 */
export async function prune(dir: string, { job, keep, timeZone }: PruneOrder, origin: string): Promise<PruneOutcome> {
  const ofJob = listRuns(dir).flatMap(({ name, head, sha256 }) =>
    head?.job === job && head.origin === origin && sha256 !== null
      ? [{ name, createdAtMs: Date.parse(head.createdAt) }]
      : [],
  )
  const runs = runsToRemove(ofJob, keep, timeZone)
  for (const name of runs) rmSync(join(dir, runPath(name)))
  // The removal of the runs must be on the disk first: a run that came back after a power cut would lack its objects.
  if (runs.length > 0) await syncFolders([join(dir, 'runs')])
  return { runs, objects: removeUnnamed(dir) }
}

/** @returns how many objects were removed. None if a manifest cannot be read, because its objects are unknown. */
function removeUnnamed(dir: string): number {
  const named = new Set<string>()
  for (const name of listRunNames(dir)) {
    const read = readManifest(dir, name)
    if (read.kind === 'damaged') return 0
    for (const { object } of read.value.chats) named.add(object)
  }
  const unnamed = listObjects(dir).filter((hash) => !named.has(hash))
  for (const hash of unnamed) removeFile(join(dir, objectPath(hash)))
  return unnamed.length
}

/** How many runs of a job stay: the newest of each of the last days, weeks and months that have a run. */
export interface Keep {
  readonly daily: number
  readonly weekly: number
  readonly monthly: number
}

export interface KeptRun {
  readonly name: string
  readonly createdAtMs: number
}

/**
 * Which runs of a job are not kept. If all counts are 0, all runs stay. The newest run always stays.
 * @param timeZone IANA name of the zone of days, months, and weeks, which start on Monday
 */
export function runsToRemove(runs: readonly KeptRun[], keep: Keep, timeZone: string): readonly string[] {
  if (keep.daily + keep.weekly + keep.monthly === 0) return []
  const newestFirst = runs.toSorted((a, b) => b.createdAtMs - a.createdAtMs || (a.name < b.name ? 1 : -1))
  const dated = newestFirst.map(({ name, createdAtMs }) => ({ name, date: dateOf(createdAtMs, timeZone) }))
  const kept = new Set([
    ...newestOfEach(dated, keep.daily, (date) => date.toString()),
    ...newestOfEach(dated, keep.weekly, (date) => date.subtract({ days: date.dayOfWeek - 1 }).toString()),
    ...newestOfEach(dated, keep.monthly, (date) => date.toPlainYearMonth().toString()),
  ])
  return newestFirst.map(({ name }) => name).filter((name) => !kept.has(name))
}

interface DatedRun {
  readonly name: string
  readonly date: Temporal.PlainDate
}

function newestOfEach(
  newestFirst: readonly DatedRun[],
  count: number,
  periodOf: (date: Temporal.PlainDate) => string,
): readonly string[] {
  const newest = new Map<string, string>()
  for (const { name, date } of newestFirst) {
    const period = periodOf(date)
    if (!newest.has(period)) newest.set(period, name)
  }
  return [...newest.values()].slice(0, count)
}

const dateOf = (ms: number, timeZone: string): Temporal.PlainDate =>
  Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone).toPlainDate()
