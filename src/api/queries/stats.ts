import type { Mirror } from '../../mirror/open.ts'
import { prepared } from '../../mirror/sql.ts'
import { UNDATED_QUARTER } from '../../mirror/sum-tables.ts'
import type { ToolCount } from '../answers/chats.ts'
import type { Stats, SeriesRow } from '../answers/stats.ts'
import { type BucketUnit, dateOfDay, dayOf, firstDayOf, nextBucket, weekdayOf, ZoneClock } from '../periods.ts'
import { toolsByUse } from './files.ts'
import {
  bindSums,
  countUndated,
  COUNTED,
  narrow,
  QUARTER_MS,
  withoutDrafts,
  type MessageScope,
} from './message-sums.ts'
import { readNamedProjects } from './projects.ts'
import { inSnapshot, theRow, toIso } from './rows.ts'
import { within, type Scope } from './scope.ts'

export interface StatsRequest extends Scope {
  readonly bucket: BucketUnit
  readonly timeZone: string
  /** The present time in epoch milliseconds. */
  readonly nowMs: number
}

interface CountedChat {
  readonly num: number
  readonly project: number | null
  readonly mode: string | null
  readonly isSubagent: number
  readonly linesAdded: number | null
  readonly linesRemoved: number | null
}

/** Subagents too. */
const chatsIn = (scope: MessageScope): string => `
  select num, project, mode, is_subagent as isSubagent, lines_added as linesAdded, lines_removed as linesRemoved
  from (select num as chat, * from chats) m where true ${narrow(scope)}
`

/** Of a chat, a quarter of an hour and a model: all messages, the user's, and the calls. */
type CountRow = readonly [number, number, string | null, number, number, number]

const countsIn = (scope: MessageScope): string => `
  select m.chat, m.quarter, m.model, m.messages, m.users, m.calls from (${COUNTED}) m where true ${narrow(scope)}
`

const fromCalls = (scope: MessageScope): string => `
  from messages m indexed by callers cross join calls u on u.body = m.body
  where m.is_orphan = 0 and m.tool_calls > 0 ${within(scope, 'm.created_at')} ${narrow(scope)}
`
/** The most called first. */
const toolsIn = (scope: MessageScope): string => `
  select u.tool as name, count(*) as calls, count(*) filter (where u.status = 'error') as errors,
    count(*) filter (where u.status = 'rejected') as rejected
  ${fromCalls(scope)} and u.file = 0 group by 1 order by calls desc, name
`

const FILES_MAX = 20
/** The files that were used most. Failed and rejected calls touched none. */
const filesIn = (scope: MessageScope): string => `
  select u.path, count(*) filter (where u.tool in (select value from json_each(@reading))) as reads,
    count(*) filter (where u.tool in (select value from json_each(@editing))) as edits
  ${fromCalls(scope)} and u.path is not null and u.status in ('completed', 'running')
    and u.tool in (select value from json_each(@reading) union all select value from json_each(@editing))
  group by 1 order by count(*) desc, 1 limit ${FILES_MAX}
`

/** How many chats wait for their calls. */
const uncountedIn = (scope: MessageScope): string => `
  select count(*) as chats from uncounted m where true ${narrow(scope)}
`

const HOUR_MS = 3_600_000
/** Cursor is younger. A message with an earlier time, or one after tomorrow, has a wrong clock. */
const FIRST_DAY = dayOf(Date.UTC(2015, 0))

/** Counts of what statistics group by. */
class Share {
  /** Without subagents. */
  readonly chats = new Set<number>()
  messages = 0
  userMessages = 0
  toolCalls = 0

  add({ num, isSubagent }: CountedChat, [, , , messages, users, calls]: CountRow): void {
    if (isSubagent === 0) this.chats.add(num)
    this.messages += messages
    this.userMessages += users
    this.toolCalls += calls
  }
}

function shareOf<Key>(shares: Map<Key, Share>, key: Key): Share {
  let share = shares.get(key)
  if (share === undefined) shares.set(key, (share = new Share()))
  return share
}

/** Adds up the kept sums of the period. No message is read but those of quarters of an hour that it covers in part. */
export const answerStats = (db: Mirror, request: StatsRequest): Stats => inSnapshot(db, () => countStats(db, request))

function countStats(db: Mirror, request: StatsRequest): Stats {
  const { bucket, timeZone, nowMs, fromMs, toMs } = request
  const scope = withoutDrafts(db, { ...request, models: null })
  const bound = bindSums(scope)
  const chats = new Map(
    prepared<CountedChat>(db, chatsIn(scope))
      .all(bound)
      .map((chat) => [chat.num, chat]),
  )
  const clock = new ZoneClock(timeZone)
  const endDay = dayOf(nowMs) + 2
  const all = new Share()
  const byModel = new Map<string | null, Share>()
  const byProject = new Map<number | null, Share>()
  const byBucket = new Map<number, Share>()
  const counted = new Set<CountedChat>()
  const days = new Set<number>()
  const byHourOfWeek = Array.from({ length: 7 }, () => Array.from({ length: 24 }, () => 0))
  let dated = 0
  for (const row of prepared<CountRow>(db, countsIn(scope)).raw().all(bound)) {
    const [num, quarter, model, messages] = row
    const chat = chats.get(num)
    // A damaged mirror may have messages of a chat that is lost.
    if (chat === undefined) continue
    counted.add(chat)
    for (const share of [all, shareOf(byModel, model), shareOf(byProject, chat.project)]) share.add(chat, row)
    if (quarter === UNDATED_QUARTER) continue
    const localMs = clock.toLocalMs(quarter * QUARTER_MS)
    const day = dayOf(localMs)
    dated += messages
    days.add(day)
    const hours = byHourOfWeek[weekdayOf(day)] ?? []
    const hour = Math.floor(localMs / HOUR_MS) - day * 24
    hours[hour] = (hours[hour] ?? 0) + messages
    if (day >= FIRST_DAY && day <= endDay) shareOf(byBucket, firstDayOf(day, bucket)).add(chat, row)
  }
  const series = seriesOf(byBucket, bucket)
  const projects = readNamedProjects(db)
  const listed = [...counted].filter(({ isSubagent }) => isSubagent === 0)
  return {
    bucket,
    timeZone,
    from: toIso(fromMs),
    to: toIso(toMs),
    totals: {
      projects: [...byProject.keys()].filter((num) => projects.has(num ?? -1)).length,
      chats: listed.length,
      subagents: counted.size - listed.length,
      messages: all.messages,
      userMessages: all.userMessages,
      toolCalls: all.toolCalls,
      linesAdded: addUp([...counted].map(({ linesAdded }) => linesAdded)),
      linesRemoved: addUp([...counted].map(({ linesRemoved }) => linesRemoved)),
      activeDays: days.size,
    },
    undated: countUndated(db, scope),
    uncounted: theRow(prepared<Stats['uncounted']>(db, uncountedIn(scope)), bound),
    series,
    outOfSeries: { messages: dated - total(series.map(({ messages }) => messages)) },
    byProject: ranked(
      [...byProject].map(([num, share]) => {
        const { id, name } = projects.get(num ?? -1) ?? { id: null, name: null }
        return { id, name, chats: share.chats.size, messages: share.messages }
      }),
      ({ messages }) => messages,
    ),
    byModel: ranked(
      [...byModel].map(([name, share]) => ({ name, chats: share.chats.size, messages: share.messages })),
      ({ messages }) => messages,
    ),
    byTool: prepared<ToolCount>(db, toolsIn(scope)).all(bound),
    byMode: countByMode(listed),
    byHour: Array.from({ length: 24 }, (_, hour) => total(byHourOfWeek.map((ofDay) => ofDay[hour] ?? 0))),
    byWeekday: byHourOfWeek.map(total),
    byHourOfWeek,
    topFiles: prepared<Stats['topFiles'][number]>(db, filesIn(scope)).all({ ...bound, ...toolsByUse(db) }),
  }
}

const total = (numbers: readonly number[]): number => numbers.reduce((sum, count) => sum + count, 0)

/** Null if no value is known. */
function addUp(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : total(known)
}

/** The largest first. Of equal rows, one without a name is last. */
const ranked = <Row extends { readonly name: string | null }>(
  rows: readonly Row[],
  sizeOf: (row: Row) => number,
): Row[] => rows.toSorted((one, other) => sizeOf(other) - sizeOf(one) || compareNames(one.name, other.name))

function compareNames(one: string | null, other: string | null): number {
  if (one === other) return 0
  if (one === null || other === null) return one === null ? 1 : -1
  return one < other ? -1 : 1
}

function countByMode(listed: readonly CountedChat[]): Stats['byMode'] {
  const modes = new Map<string | null, number>()
  for (const { mode } of listed) modes.set(mode, (modes.get(mode) ?? 0) + 1)
  const rows = [...modes].map(([name, chats]) => ({ name, chats }))
  return ranked(rows, ({ chats }) => chats)
}

/** The buckets from the first to the last one with a message, empty ones too. */
function seriesOf(buckets: ReadonlyMap<number, Share>, unit: BucketUnit): SeriesRow[] {
  const rows: SeriesRow[] = []
  const last = Math.max(...buckets.keys())
  for (let day = Math.min(...buckets.keys()); day <= last; day = nextBucket(day, unit)) {
    const { chats, messages, userMessages, toolCalls } = buckets.get(day) ?? new Share()
    rows.push({ start: dateOfDay(day), chats: chats.size, messages, userMessages, toolCalls })
  }
  return rows
}
