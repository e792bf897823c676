import type { Mirror } from '../../mirror/open.ts'
import { UNDATED_QUARTER } from '../../mirror/sum-tables.ts'
import { type BucketUnit, dateOfDay, dayOf, firstDayOf, nextBucket, weekdayOf, ZoneClock } from '../periods.ts'
import type { Stats, SeriesRow } from '../answers/stats.ts'
import { toIso } from '../queries/answer-row.ts'
import {
  ofUndated,
  readCountedChats,
  readCounts,
  readDrafts,
  readFiles,
  readTools,
  readUncounted,
  type Scope,
  type CountedChat,
  type CountRow,
  QUARTER_MS,
} from '../queries/message-sums.ts'
import { readNamedProjects } from '../queries/projects/list-projects.ts'
import { inSnapshot } from '../queries/snapshot.ts'

export interface StatsRequest extends Scope {
  readonly bucket: BucketUnit
  readonly timeZone: string
  /** The present time in epoch milliseconds. */
  readonly nowMs: number
}

const HOUR_MS = 3_600_000

/** Adds up the kept sums of the period. No message is read but those of quarters of an hour that it covers in part. */
export const answerStats = (db: Mirror, request: StatsRequest): Stats => inSnapshot(db, () => countStats(db, request))

function countStats(db: Mirror, request: StatsRequest): Stats {
  const { bucket, timeZone, fromMs, toMs } = request
  const scope = { ...request, draftNums: readDrafts(db), models: null }
  const chats = new Map(readCountedChats(db, scope).map((chat) => [chat.num, chat]))
  const tally = new Tally(request)
  for (const row of readCounts(db, scope)) {
    const chat = chats.get(row[0])
    // A damaged mirror may have messages of a chat that is lost.
    if (chat !== undefined) tally.add(chat, row)
  }
  const counted = [...tally.chats]
  const listed = counted.filter(({ isSubagent }) => isSubagent === 0)
  const byProject = countByProject(db, tally)
  const series = tally.series()
  return {
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
      linesAdded: addUp(counted.map(({ linesAdded }) => linesAdded)),
      linesRemoved: addUp(counted.map(({ linesRemoved }) => linesRemoved)),
      activeDays: tally.activeDays,
    },
    undated: countUndated(readCounts(db, scope, ofUndated), chats),
    uncounted: { chats: readUncounted(db, scope) },
    series,
    outOfSeries: { messages: tally.dated - total(series.map(({ messages }) => messages)) },
    byProject,
    byModel: byShare(
      [...tally.byModel].map(([name, share]) => ({ name, chats: share.chats.size, messages: share.messages })),
    ),
    byTool: readTools(db, scope),
    byMode: countByMode(listed),
    byHour: Array.from({ length: 24 }, (_, hour) => total(tally.byHourOfWeek.map((ofDay) => ofDay[hour] ?? 0))),
    byWeekday: tally.byHourOfWeek.map(total),
    byHourOfWeek: tally.byHourOfWeek,
    topFiles: readFiles(db, scope),
  }
}

const total = (numbers: readonly number[]): number => numbers.reduce((sum, count) => sum + count, 0)

/** Null if no value is known. */
function addUp(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : total(known)
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

function countByMode(listed: readonly CountedChat[]): Stats['byMode'] {
  const modes = new Map<string | null, number>()
  for (const { mode } of listed) modes.set(mode, (modes.get(mode) ?? 0) + 1)
  return [...modes]
    .map(([name, chats]) => ({ name, chats }))
    .sort((one, other) => other.chats - one.chats || compareNames(one.name, other.name))
}

/** @param rows the messages without a time */
function countUndated(rows: readonly CountRow[], chats: ReadonlyMap<number, CountedChat>): Stats['undated'] {
  const messagesOf = new Map<number, number>()
  for (const [num, , , messages] of rows) messagesOf.set(num, (messagesOf.get(num) ?? 0) + messages)
  const whole = [...messagesOf].filter(([num, messages]) => {
    const chat = chats.get(num)
    return chat?.isSubagent === 0 && chat.length === messages
  })
  return { messages: total([...messagesOf.values()]), chats: whole.length }
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

/** Cursor is younger. A message with an earlier time, or one after tomorrow, has a wrong clock. */
const FIRST_DAY = dayOf(Date.UTC(2015, 0))

/** Adds up counts by everything that statistics group by, in the local time of a zone. */
class Tally {
  messages = 0
  userMessages = 0
  toolCalls = 0
  /** Messages with a time. */
  dated = 0
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
  readonly #endDay: number

  constructor({ bucket, timeZone, nowMs }: Pick<StatsRequest, 'bucket' | 'timeZone' | 'nowMs'>) {
    this.#unit = bucket
    this.#clock = new ZoneClock(timeZone)
    this.#endDay = dayOf(nowMs) + 2
  }

  add(chat: CountedChat, row: CountRow): void {
    const [, quarter, model, messages, users, calls] = row
    this.messages += messages
    this.userMessages += users
    this.toolCalls += calls
    this.chats.add(chat)
    for (const share of [shareOf(this.byModel, model), shareOf(this.byProject, chat.project)]) {
      share.messages += messages
      if (chat.isSubagent === 0) share.chats.add(chat.num)
    }
    if (quarter === UNDATED_QUARTER) return
    const localMs = this.#clock.toLocalMs(quarter * QUARTER_MS)
    const day = dayOf(localMs)
    this.dated += messages
    this.#days.add(day)
    const hours = this.byHourOfWeek[weekdayOf(day)] ?? []
    const hour = Math.floor(localMs / HOUR_MS) - day * 24
    hours[hour] = (hours[hour] ?? 0) + messages
    if (day < FIRST_DAY || day > this.#endDay) return
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

  /** The buckets from the first to the last one with a message, empty ones too. */
  series(): SeriesRow[] {
    const sorted = [...this.#buckets.values()].sort((one, other) => one.firstDay - other.firstDay)
    const rows: SeriesRow[] = []
    let next = sorted[0]?.firstDay ?? 0
    for (const { firstDay, chats, messages, userMessages, toolCalls } of sorted) {
      for (; next < firstDay; next = nextBucket(next, this.#unit)) rows.push({ start: dateOfDay(next), ...nothing })
      rows.push({ start: dateOfDay(firstDay), chats: chats.size, messages, userMessages, toolCalls })
      next = nextBucket(firstDay, this.#unit)
    }
    return rows
  }
}

const nothing = { chats: 0, messages: 0, userMessages: 0, toolCalls: 0 }

function shareOf<Key>(shares: Map<Key, Share>, key: Key): Share {
  let share = shares.get(key)
  if (share === undefined) shares.set(key, (share = { chats: new Set(), messages: 0 }))
  return share
}
