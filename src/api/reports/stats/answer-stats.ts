import type { Mirror } from '../../../mirror/open.ts'
import type { ToolStatus } from '../../../model/part.ts'
import { BUCKETS_MAX, type BucketUnit } from '../../buckets.ts'
import type { CallCounts, Distribution, Stats } from '../../answers/stats.ts'
import { toIso } from '../../iso.ts'
import { useOfTool } from '../../../shared/tools.ts'
import * as counts from '../../queries/counts.ts'
import { ofUndated, readDrafts, type MessageScope } from '../../queries/message-sums.ts'
import { readNamedChats, readNamedProjects } from '../../queries/named-rows.ts'
import { inSnapshot } from '../../queries/snapshot.ts'
import { Tally } from './tally.ts'

export interface StatsRequest extends Pick<MessageScope, 'projectNums' | 'machineNums' | 'fromMs' | 'toMs'> {
  readonly bucket: BucketUnit
  readonly timeZone: string
}

/** `too-many`: the series would have more than `max` buckets. */
export type StatsAnswer =
  | { readonly kind: 'stats'; readonly stats: Stats }
  | { readonly kind: 'too-many'; readonly count: number; readonly max: number }

const CHATS_MAX = 10
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const lengthSteps = [1, 2, 6, 11, 21, 51, 101, 201, 501]
const durationSteps = [0, MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 4 * HOUR_MS, 24 * HOUR_MS]

/** Adds up the kept sums of the period. No message is read but those of quarters of an hour that it covers in part. */
export const answerStats = (db: Mirror, request: StatsRequest): StatsAnswer =>
  inSnapshot(db, () => countStats(db, request))

function countStats(db: Mirror, request: StatsRequest): StatsAnswer {
  const { bucket, timeZone, fromMs, toMs } = request
  const scope = { ...request, draftNums: readDrafts(db), models: null }
  const chats = new Map(counts.readCountedChats(db, scope).map((chat) => [chat.num, chat]))
  const tally = new Tally(bucket, timeZone)
  for (const row of counts.readCounts(db, scope)) {
    const chat = chats.get(row[0])
    // A damaged mirror may have messages of a chat that is lost.
    if (chat !== undefined) tally.add(chat, row)
  }
  // If a bound is missing and there are too many buckets, some message has a wrong time.
  const series = tally.series(fromMs === null || toMs === null, BUCKETS_MAX)
  if (series.rows === null) return { kind: 'too-many', count: series.count, max: BUCKETS_MAX }
  const counted = [...tally.chats]
  const listed = counted.filter(({ isSubagent }) => isSubagent === 0)
  const byProject = countByProject(db, tally)
  const { byTool, calls, topFiles } = countCalls(db, scope)
  const lines = { added: addUp(counted, 'linesAdded'), removed: addUp(counted, 'linesRemoved') }
  const files = addUp(counted, 'filesChanged')
  const stats = {
    bucket,
    timeZone,
    from: toIso(fromMs),
    to: toIso(toMs),
    totals: {
      projects: byProject.filter(({ id }) => id !== null).length,
      chats: listed.length,
      subagents: counted.length - listed.length,
      messages: tally.messages,
      userMessages: tally.userMessages,
      toolCalls: tally.toolCalls,
      linesAdded: lines.added.sum,
      linesRemoved: lines.removed.sum,
      filesChanged: files.sum,
      activeDays: tally.activeDays,
    },
    known: {
      chats: counted.length,
      linesAdded: lines.added.count,
      linesRemoved: lines.removed.count,
      filesChanged: files.count,
    },
    undated: countUndated(counts.readCounts(db, scope, ofUndated), chats),
    approximate: { messages: tally.approximate },
    uncounted: { chats: counts.readUncounted(db, scope) },
    series: series.rows,
    outOfSeries: { messages: series.left },
    byProject,
    byModel: byShare(
      [...tally.byModel].map(([name, share]) => ({ name, chats: share.chats.size, messages: share.messages })),
    ),
    byTool,
    byMode: countByMode(listed),
    byHour: Array.from({ length: 24 }, (_, hour) => total(tally.byHourOfWeek.map((ofDay) => ofDay[hour] ?? 0))),
    byWeekday: tally.byHourOfWeek.map(total),
    byHourOfWeek: tally.byHourOfWeek,
    topFiles,
    calls,
    largestChats: listLargestChats(db, listed),
    chatLength: distribute(
      listed.map(({ length }) => length),
      lengthSteps,
    ),
    chatDuration: distribute(
      listed.flatMap(({ durationMs }) => durationMs ?? []),
      durationSteps,
    ),
    longestStreak: tally.longestStreak,
  }
  return { kind: 'stats', stats }
}

const total = (numbers: readonly number[]): number => numbers.reduce((sum, count) => sum + count, 0)

/** The sum is null if no chat has a value. */
function addUp(
  chats: readonly counts.CountedChat[],
  column: 'linesAdded' | 'linesRemoved' | 'filesChanged',
): { readonly sum: number | null; readonly count: number } {
  const known = chats.flatMap((chat) => chat[column] ?? [])
  return { sum: known.length === 0 ? null : total(known), count: known.length }
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
    return { id: project?.id ?? null, name: project?.name ?? null, chats: chats.size, messages }
  })
  return byShare(rows)
}

function countByMode(listed: readonly counts.CountedChat[]): Stats['byMode'] {
  const modes = new Map<string | null, number>()
  for (const { mode } of listed) modes.set(mode, (modes.get(mode) ?? 0) + 1)
  return [...modes]
    .map(([name, chats]) => ({ name, chats }))
    .sort((one, other) => other.chats - one.chats || compareNames(one.name, other.name))
}

/** @param rows the messages without a time */
function countUndated(
  rows: readonly counts.CountRow[],
  chats: ReadonlyMap<number, counts.CountedChat>,
): Stats['undated'] {
  const messagesOf = new Map<number, number>()
  for (const [num, , , messages] of rows) messagesOf.set(num, (messagesOf.get(num) ?? 0) + messages)
  const whole = [...messagesOf].filter(([num, messages]) => {
    const chat = chats.get(num)
    return chat?.isSubagent === 0 && chat.length === messages
  })
  return { messages: total([...messagesOf.values()]), chats: whole.length }
}

/** Calls by tool, the most called first, and the files that they read or edited. */
function countCalls(db: Mirror, scope: MessageScope): Pick<Stats, 'byTool' | 'calls' | 'topFiles'> {
  const rows = counts.readTools(db, scope)
  const tools = [...new Set(rows.map(({ tool }) => tool))]
  const byTool = tools
    .map((name) => ({ name, ...countsOf(rows.filter(({ tool }) => tool === name)) }))
    .sort((one, other) => other.calls - one.calls || compareNames(one.name, other.name))
  const named = (use: 'reads' | 'edits'): string[] => tools.filter((name) => useOfTool(name) === use)
  const topFiles = counts.readFiles(db, scope, named('reads'), named('edits'))
  return { byTool, calls: withRates(countsOf(rows)), topFiles }
}

function countsOf(rows: readonly counts.ToolRow[]): CallCounts {
  const of = (wanted: ToolStatus): number =>
    total(rows.filter(({ status }) => status === wanted).map(({ calls }) => calls))
  return {
    calls: total(rows.map(({ calls }) => calls)),
    completed: of('completed'),
    errors: of('error'),
    rejected: of('rejected'),
    cancelled: of('cancelled'),
    running: of('running'),
  }
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

function listLargestChats(db: Mirror, listed: readonly counts.CountedChat[]): Stats['largestChats'] {
  const largest = listed
    .toSorted((one, other) => other.sizeBytes - one.sizeBytes || other.num - one.num)
    .slice(0, CHATS_MAX)
  const named = readNamedChats(
    db,
    largest.map(({ num }) => num),
  )
  return largest.flatMap(({ num, length, sizeBytes }) => {
    const name = named.get(num)
    return name === undefined ? [] : [{ ...name, messages: length, sizeBytes }]
  })
}

/** @param bounds the starts of the steps, ascending. The first is the smallest possible value */
function distribute(values: readonly number[], bounds: readonly number[]): Distribution {
  const sorted = values.toSorted((one, other) => one - other)
  const rank = (share: number): number | null => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null
  const steps = bounds.map((from, index) => {
    const to = bounds[index + 1] ?? null
    return { from, to, count: sorted.filter((value) => value >= from && value < (to ?? Infinity)).length }
  })
  return { count: sorted.length, min: rank(0), median: rank(0.5), p90: rank(0.9), max: rank(1), steps }
}
