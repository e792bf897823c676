import * as counts from '../queries/message-sums.ts'
import type { Mirror } from '../../mirror/open.ts'
import type { ToolStatus } from '../../model/part.ts'
import {
  BUCKETS_MAX,
  type BucketUnit,
  bucketsBetween,
  dateOfDay,
  dayOf,
  firstDayOf,
  nextBucket,
  weekdayOf,
  ZoneClock,
} from '../periods.ts'
import type { CallCounts, Stats, SeriesRow } from '../answers/stats.ts'
import { toIso } from '../queries/answer-row.ts'
import { useOfTool } from '../../shared/tools.ts'
import {
  ofUndated,
  readDrafts,
  type MessageScope,
  type CountedChat,
  type CountRow,
  QUARTER_MS,
} from '../queries/message-sums.ts'
import { readNamedChats } from '../queries/chats/list-chats.ts'
import { readNamedProjects } from '../queries/projects/list-projects.ts'
import { inSnapshot } from '../queries/snapshot.ts'
import { UNDATED_QUARTER } from '../../mirror/sum-tables.ts'

export interface StatsRequest extends Pick<MessageScope, 'projectNums' | 'machineNums' | 'fromMs' | 'toMs'> {
  readonly bucket: BucketUnit
  readonly timeZone: string
}

/** `too-many`: the series would have more than `max` buckets. */
export type StatsAnswer =
  | { readonly kind: 'stats'; readonly stats: Stats }
  | { readonly kind: 'too-many'; readonly count: number; readonly max: number }

const CHATS_MAX = 10
const HOUR_MS = 3_600_000

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

interface Share {
  readonly chats: Set<number>
  messages: number
}

interface Bucket {
  readonly firstDay: number
  /** Without subagents. */
  readonly chats: Set<number>
  messages: number
  userMessages: number
  toolCalls: number
}

/** Adds up counts by everything that statistics group by, in the local time of a zone. */
export class Tally {
  messages = 0
  userMessages = 0
  toolCalls = 0
  approximate = 0
  readonly byModel = new Map<string | null, Share>()
  readonly byProject = new Map<number | null, Share>()
  /** The chats with counted messages. */
  readonly chats = new Set<CountedChat>()
  /** 7 lists of 24 counts, Monday first. */
  readonly byHourOfWeek = Array.from({ length: 7 }, () => Array.from({ length: 24 }, () => 0))
  readonly #days = new Set<number>()
  readonly #buckets = new Map<number, Bucket>()
  readonly #unit: BucketUnit
  readonly #clock: ZoneClock

  constructor(unit: BucketUnit, timeZone: string) {
    this.#unit = unit
    this.#clock = new ZoneClock(timeZone)
  }

  add(chat: CountedChat, row: CountRow): void {
    const [, quarter, model, messages, users, calls, approximate] = row
    this.messages += messages
    this.userMessages += users
    this.toolCalls += calls
    this.approximate += approximate
    this.chats.add(chat)
    for (const share of [shareOf(this.byModel, model), shareOf(this.byProject, chat.project)]) {
      share.messages += messages
      if (chat.isSubagent === 0) share.chats.add(chat.num)
    }
    if (quarter === UNDATED_QUARTER) return
    const localMs = this.#clock.toLocalMs(quarter * QUARTER_MS)
    const day = dayOf(localMs)
    this.#days.add(day)
    const hours = this.byHourOfWeek[weekdayOf(day)] ?? []
    const hour = Math.floor(localMs / HOUR_MS) - day * 24
    hours[hour] = (hours[hour] ?? 0) + messages
    const bucket = this.#bucketOf(firstDayOf(day, this.#unit))
    bucket.messages += messages
    bucket.userMessages += users
    bucket.toolCalls += calls
    if (chat.isSubagent === 0) bucket.chats.add(chat.num)
  }

  #bucketOf(firstDay: number): Bucket {
    let bucket = this.#buckets.get(firstDay)
    if (bucket === undefined) {
      bucket = { firstDay, chats: new Set(), messages: 0, userMessages: 0, toolCalls: 0 }
      this.#buckets.set(firstDay, bucket)
    }
    return bucket
  }

  get activeDays(): number {
    return this.#days.size
  }

  /** The buckets from the first to the last one with a message, and how many messages are outside. */
  series(
    isOpen: boolean,
    max: number,
  ): { readonly rows: SeriesRow[] | null; readonly left: number; readonly count: number } {
    const sorted = [...this.#buckets.values()].sort((one, other) => one.firstDay - other.firstDay)
    const [first, last] = [sorted[0], sorted.at(-1)]
    const count = first === undefined || last === undefined ? 0 : this.#between(first, last) + 1
    if (count > max && !isOpen) return { rows: null, left: 0, count }
    const stretch = count > max ? this.#busiestStretch(sorted, max) : sorted
    return { rows: this.#withEmpty(stretch), left: sumOf(sorted) - sumOf(stretch), count }
  }

  #between(first: Bucket, last: Bucket): number {
    return bucketsBetween(first.firstDay, last.firstDay, this.#unit)
  }

  /** Up to `max` buckets in a row with the most messages. So a message with a wrong year stays outside. */
  #busiestStretch(sorted: readonly Bucket[], max: number): readonly Bucket[] {
    let [start, messages, most] = [0, 0, 0]
    let best: readonly [number, number] = [0, 0]
    for (const [at, bucket] of sorted.entries()) {
      messages += bucket.messages
      for (let first = sorted[start]; first && this.#between(first, bucket) >= max; first = sorted[start]) {
        messages -= first.messages
        start += 1
      }
      if (messages <= most) continue
      most = messages
      best = [start, at + 1]
    }
    return sorted.slice(...best)
  }

  #withEmpty(stretch: readonly Bucket[]): SeriesRow[] {
    const rows: SeriesRow[] = []
    let next = stretch[0]?.firstDay ?? 0
    for (const { firstDay, chats, messages, userMessages, toolCalls } of stretch) {
      for (; next < firstDay; next = nextBucket(next, this.#unit)) rows.push({ start: dateOfDay(next), ...nothing })
      rows.push({ start: dateOfDay(firstDay), chats: chats.size, messages, userMessages, toolCalls })
      next = nextBucket(firstDay, this.#unit)
    }
    return rows
  }
}

const sumOf = (buckets: readonly Bucket[]): number => buckets.reduce((sum, { messages }) => sum + messages, 0)

const nothing = { chats: 0, messages: 0, userMessages: 0, toolCalls: 0 }

function shareOf<Key>(shares: Map<Key, Share>, key: Key): Share {
  let share = shares.get(key)
  if (share === undefined) shares.set(key, (share = { chats: new Set(), messages: 0 }))
  return share
}
