import type { Role, TimeSource } from '../../model/message.ts'
import type { ChatTime, Outline, OutlineEntry, Placement, ThreadEntry } from '../../model/thread.ts'

interface Placed {
  readonly entry: ThreadEntry
  readonly position: number
  readonly listed: OutlineEntry | null
}

/**
 * Gives the messages of a chat their order and times.
 * Order: the chat's outline; without one, by time. A message that the outline does not name is an orphan.
 * Times, best first: the row's own, the outline's, the request timings, a neighbour's, the chat's. The origin of each time
 * is returned with it.
 */
export function arrangeThread(
  outline: Outline,
  entries: readonly ThreadEntry[],
  chatTime: ChatTime | null,
): readonly Placement[] {
  const placed = outline === null ? placeByTime(entries) : placeByOutline(outline, entries)
  const inThread = new Set(placed.map((item) => item.entry.id))
  const hashes = new Set(placed.map((item) => item.entry.contentHash))
  const orphans = entries.filter((entry) => !inThread.has(entry.id))
  return [
    ...withTimes(placed, chatTime),
    ...orphans.map((entry) => placeOrphan(entry, hashes.has(entry.contentHash), chatTime)),
  ]
}

function placeByTime(entries: readonly ThreadEntry[]): Placed[] {
  const timed = entries.map((entry) => ({ entry, atMs: ownTime(entry)?.atMs ?? Number.MAX_SAFE_INTEGER }))
  // Ids break ties: random, but stable across rebuilds. Rowids would change with every rewrite.
  timed.sort((a, b) => a.atMs - b.atMs || compareText(a.entry.id, b.entry.id))
  return timed.map(({ entry }, position) => ({ entry, position, listed: null }))
}

/**
 * Places entries by id. After a checkpoint restore, the outline and the rows have different ids but the same start times,
 * so the remaining entries are matched by role and start time. A message whose row vanished keeps its place only if no
 * live row takes it.
 */
function placeByOutline(outline: NonNullable<Outline>, entries: readonly ThreadEntry[]): Placed[] {
  const taken = new Map<number, ThreadEntry>()
  const left = new Map(entries.map((entry) => [entry.id, entry]))
  const take = (position: number, entry: ThreadEntry | undefined): void => {
    if (entry === undefined || taken.has(position)) return
    taken.set(position, entry)
    left.delete(entry.id)
  }
  const takeById = (isLive: boolean): void => {
    for (const [position, listed] of outline.entries()) {
      const entry = listed.id === null ? undefined : left.get(listed.id)
      if (entry?.isLive === isLive) take(position, entry)
    }
  }
  takeById(true)
  // Usually the outline names every row, and no entry is left.
  if (left.size > 0) takeOtherwise(outline, taken, left, take)
  if (left.size > 0) takeById(false)
  return [...taken]
    .map(([position, entry]) => ({ entry, position, listed: outline[position] ?? null }))
    .sort((a, b) => a.position - b.position)
}

/** Places entries by their alias, then by role and start time. */
function takeOtherwise(
  outline: NonNullable<Outline>,
  taken: ReadonlyMap<number, ThreadEntry>,
  left: ReadonlyMap<string, ThreadEntry>,
  take: (position: number, entry: ThreadEntry | undefined) => void,
): void {
  const byAlias = new Map([...left.values()].filter((entry) => entry.isLive).map((entry) => [entry.alias, entry]))
  for (const [position, listed] of outline.entries()) {
    const entry = listed.id === null ? undefined : byAlias.get(listed.id)
    if (entry !== undefined && left.has(entry.id)) take(position, entry)
  }
  const byStart = indexByStart([...left.values()].filter((entry) => entry.isLive))
  for (const [position, listed] of outline.entries()) {
    if (!taken.has(position)) take(position, findByStart(byStart, listed, left))
  }
}

type ByStart = ReadonlyMap<string, readonly ThreadEntry[]>

function indexByStart(entries: readonly ThreadEntry[]): ByStart {
  const byStart = new Map<string, ThreadEntry[]>()
  for (const entry of entries) {
    for (const atMs of new Set([entry.startedAtMs, entry.sentAtMs, entry.timingAtMs])) {
      if (atMs === null) continue
      const key = startKey(entry.role, atMs)
      const sameStart = byStart.get(key)
      if (sameStart === undefined) byStart.set(key, [entry])
      else sameStart.push(entry)
    }
  }
  return byStart
}

function findByStart(
  byStart: ByStart,
  listed: OutlineEntry,
  left: ReadonlyMap<string, ThreadEntry>,
): ThreadEntry | undefined {
  const roles: readonly Role[] = listed.role === null ? ['user', 'assistant'] : [listed.role]
  for (const atMs of [listed.startedAtMs, listed.createdAtMs]) {
    if (atMs === null) continue
    for (const role of roles) {
      const found = byStart.get(startKey(role, atMs))?.find((entry) => left.has(entry.id))
      if (found !== undefined) return found
    }
  }
  return undefined
}

const startKey = (role: Role, atMs: number): string => `${role} ${atMs}`

interface Time {
  readonly atMs: number
  readonly source: TimeSource
}

function ownTime(entry: ThreadEntry, listed: OutlineEntry | null = null): Time | null {
  if (entry.sentAtMs !== null) return { atMs: entry.sentAtMs, source: 'message' }
  const listedAtMs = listed?.createdAtMs ?? listed?.startedAtMs ?? null
  if (listedAtMs !== null) return { atMs: listedAtMs, source: 'header' }
  if (entry.timingAtMs !== null) return { atMs: entry.timingAtMs, source: 'timing' }
  return null
}

function withTimes(placed: readonly Placed[], chatTime: ChatTime | null): Placement[] {
  const own = placed.map((item) => ownTime(item.entry, item.listed))
  const next = carry(own.toReversed()).toReversed()
  const previous = carry(own)
  return placed.map((item, index) => {
    const [before, after] = [previous[index], next[index]]
    // An answer was written soon after its question. The user may ask days after the answer before.
    const nearest = item.entry.role === 'assistant' ? (before ?? after) : (after ?? before)
    const time = own[index] ?? neighbour(nearest) ?? chatTime
    return {
      id: item.entry.id,
      position: item.position,
      createdAtMs: time?.atMs ?? null,
      createdAtSource: time?.source ?? null,
      isOrphan: false,
      isShadowed: false,
    }
  })
}

/** For each index, the last time seen so far. */
function carry(times: readonly (Time | null)[]): (Time | null)[] {
  let last: Time | null = null
  return times.map((time) => (last = time ?? last))
}

const neighbour = (time: Time | null | undefined): Time | null =>
  time === null || time === undefined ? null : { atMs: time.atMs, source: 'neighbour' }

function placeOrphan(entry: ThreadEntry, isShadowed: boolean, chatTime: ChatTime | null): Placement {
  const time = ownTime(entry) ?? chatTime
  return {
    id: entry.id,
    position: null,
    createdAtMs: time?.atMs ?? null,
    createdAtSource: time?.source ?? null,
    isOrphan: true,
    isShadowed,
  }
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
