import type { Mirror } from '../../../mirror/open.ts'
import { readNamedChats, readNamedProjects } from '../../queries/named-rows.ts'
import { messagesByDay, messagesByHourOfWeek } from './series.ts'
import type { Tally } from './tally.ts'
import type { CallCounts, Stats, Distribution } from '../../http/schemas/stats.ts'

const FILES_MAX = 20
const CHATS_MAX = 10
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const HOURS = Array.from({ length: 24 }, (_, hour) => hour)
const lengthSteps = [1, 2, 6, 11, 21, 51, 101, 201, 501]
const durationSteps = [0, MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 4 * HOUR_MS, 24 * HOUR_MS]

type FormattedStats = Omit<
  Stats,
  'bucket' | 'timeZone' | 'from' | 'to' | 'series' | 'outOfSeries' | 'longestStreak' | 'uncounted'
>

/** Statistics from the tally, with names instead of numbers. */
export function formatStats(db: Mirror, tally: Tally, nameOf: (num: number) => string): FormattedStats {
  const { counted, calls, columns } = tally
  const listed = counted.filter((place) => columns.isSubagent[place] === 0)
  const byProject = countByProject(db, tally)
  const lines = { added: addUp(counted, columns.linesAdded), removed: addUp(counted, columns.linesRemoved) }
  const files = addUp(counted, columns.filesChanged)
  const week = messagesByHourOfWeek(tally)
  return {
    totals: {
      projects: byProject.filter(({ id }) => id !== null).length,
      chats: listed.length,
      subagents: counted.length - listed.length,
      messages: tally.messages,
      userMessages: tally.userMessages,
      toolCalls: calls.calls,
      linesAdded: lines.added.sum,
      linesRemoved: lines.removed.sum,
      filesChanged: files.sum,
      activeDays: messagesByDay(tally).filter((messages) => messages > 0).length,
    },
    known: {
      chats: counted.length,
      linesAdded: lines.added.count,
      linesRemoved: lines.removed.count,
      filesChanged: files.count,
    },
    undated: { messages: tally.undatedMessages, chats: tally.undatedChats },
    approximate: { messages: tally.approximateMessages },
    byProject,
    byModel: byShare(
      [...tally.byModel].map(([num, { chats, messages }]) => ({
        name: num === 0 ? null : nameOf(num),
        chats,
        messages,
      })),
    ),
    byTool: calls.byTool,
    byMode: countByMode(tally, listed),
    byHour: HOURS.map((hour) => total(week.map((ofDay) => ofDay[hour] ?? 0))),
    byWeekday: week.map(total),
    byHourOfWeek: week,
    topFiles: listTopFiles(tally, nameOf),
    calls: withRates(calls.all),
    largestChats: listLargestChats(db, tally, listed),
    chatLength: distribute(
      listed.map((place) => tally.lengths[place] ?? 0),
      lengthSteps,
    ),
    chatDuration: distribute(
      listed.map((place) => tally.durationsMs[place] ?? -1).filter((durationMs) => durationMs >= 0),
      durationSteps,
    ),
  }
}

const total = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0)

/** The sum is null if no chat has a value. @param places indexes of chats */
function addUp(
  places: readonly number[],
  column: readonly (number | null)[],
): { readonly sum: number | null; readonly count: number } {
  let [sum, count] = [0, 0]
  for (const place of places) {
    const value = column[place] ?? null
    if (value === null) continue
    sum += value
    count += 1
  }
  return { sum: count === 0 ? null : sum, count }
}

interface NamedShare {
  readonly name: string | null
  readonly messages: number
}

/** The most messages first. Of equal rows, one without a name is last. */
const byShare = <Row extends NamedShare>(rows: readonly Row[]): Row[] =>
  rows.toSorted((one, other) => other.messages - one.messages || compareNames(one.name, other.name))

function compareNames(one: string | null, other: string | null): number {
  if (one === other) return 0
  if (one === null || other === null) return one === null ? 1 : -1
  return one < other ? -1 : 1
}

function countByProject(db: Mirror, { byProject }: Tally): Stats['byProject'] {
  const named = readNamedProjects(db)
  const rows = [...byProject].map(([num, { chats, messages }]) => {
    const project = num === null ? undefined : named.get(num)
    return { id: project?.id ?? null, name: project?.name ?? null, chats, messages }
  })
  return byShare(rows)
}

function countByMode({ columns }: Tally, listed: readonly number[]): Stats['byMode'] {
  const modes = new Map<string | null, number>()
  for (const place of listed) {
    const mode = columns.mode[place] ?? null
    modes.set(mode, (modes.get(mode) ?? 0) + 1)
  }
  return [...modes]
    .map(([name, chats]) => ({ name, chats }))
    .sort((one, other) => other.chats - one.chats || compareNames(one.name, other.name))
}

function listTopFiles({ calls }: Tally, nameOf: (num: number) => string): Stats['topFiles'] {
  const busiest = [...calls.files].sort(([, one], [, other]) => other.reads + other.edits - one.reads - one.edits)
  const least = busiest[FILES_MAX - 1]?.[1]
  const floor = least === undefined ? 0 : least.reads + least.edits
  // Only the names of rows that may be listed are read. Ties are ordered by name.
  return busiest
    .filter(([, { reads, edits }]) => reads + edits >= floor)
    .map(([num, { reads, edits }]) => ({ path: nameOf(num), reads, edits }))
    .sort((one, other) => other.reads + other.edits - one.reads - one.edits || compareNames(one.path, other.path))
    .slice(0, FILES_MAX)
}

function withRates(all: CallCounts): Stats['calls'] {
  const ended = all.calls - all.running
  const share = (count: number): number | null => (ended === 0 ? null : count / ended)
  return {
    ...all,
    successRate: share(all.completed),
    errorRate: share(all.errors),
    rejectionRate: share(all.rejected),
  }
}

function listLargestChats(db: Mirror, { columns, lengths }: Tally, listed: readonly number[]): Stats['largestChats'] {
  const sizeOf = (place: number): number => columns.sizeBytes[place] ?? 0
  const sizes = Float64Array.from(listed, sizeOf).sort()
  const least = sizes.at(-CHATS_MAX) ?? 0
  const largest = listed
    .filter((place) => sizeOf(place) >= least)
    .sort((one, other) => sizeOf(other) - sizeOf(one) || other - one)
    .slice(0, CHATS_MAX)
    .map((place) => ({ place, num: columns.nums[place] ?? 0 }))
  const named = readNamedChats(
    db,
    largest.map(({ num }) => num),
  )
  return largest.flatMap(({ place, num }) => {
    const name = named.get(num)
    return name === undefined ? [] : [{ ...name, messages: lengths[place] ?? 0, sizeBytes: sizeOf(place) }]
  })
}

/** @param bounds the starts of the steps, ascending. The first is the smallest possible value */
export function distribute(values: readonly number[], bounds: readonly number[]): Distribution {
  const sorted = Float64Array.from(values).sort()
  const rank = (share: number): number | null => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null
  const below = bounds.map((bound) => countBelow(sorted, bound))
  const steps = bounds.map((from, index) => ({
    from,
    to: bounds[index + 1] ?? null,
    count: (below[index + 1] ?? sorted.length) - (below[index] ?? 0),
  }))
  return { count: sorted.length, min: rank(0), median: rank(0.5), p90: rank(0.9), max: rank(1), steps }
}

function countBelow(sorted: Float64Array, bound: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? Infinity) < bound) low = middle + 1
    else high = middle
  }
  return low
}
