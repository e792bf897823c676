import { Temporal } from 'temporal-polyfill'
import type { RawChat, RawMessage } from './raw-chats.ts'

export interface Recounting {
  readonly timeZone: string
  readonly unit: 'day' | 'week' | 'month'
  /** Epoch milliseconds; `from` is inclusive, `to` exclusive. */
  readonly fromMs?: number
  readonly toMs?: number
  /** Only chats of this root. */
  readonly root?: string
}

/** Counts all statistics again, with a calendar lookup for each message and without caches. */
export function recountStats(chats: readonly RawChat[], order: Recounting) {
  const { fromMs, toMs, root } = order
  const isOpen = fromMs === undefined && toMs === undefined
  const isAsked = ({ atMs }: RawMessage): boolean =>
    atMs === null ? isOpen : atMs >= (fromMs ?? -Infinity) && atMs < (toMs ?? Infinity)
  const scope = chats
    .filter((chat) => chat.row['isDraft'] !== true && chat.thread.length > 0)
    .map((chat) => ({ ...chat, root: rootOf(chat, chats), isSubagent: parentOf(chat, chats) !== null }))
    .filter((chat) => root === undefined || chat.root === root)
  const counted = scope
    .map((chat) => ({ ...chat, asked: chat.thread.filter(isAsked) }))
    .filter((c) => c.asked.length > 0)
  const listed = counted.filter(({ isSubagent }) => !isSubagent)
  const messages = counted.flatMap((chat) => chat.asked.map((each) => ({ ...each, chat })))
  const dated = messages.filter((message): message is typeof message & { atMs: number } => message.atMs !== null)
  const local = dated.map((message) => ({ ...message, ...localTime(message.atMs, order) }))
  const days = new Set(local.map(({ day }) => day))
  const calls = messages.flatMap(({ call }) => call ?? [])
  return {
    totals: {
      projects: new Set(counted.flatMap((chat) => chat.root ?? [])).size,
      chats: listed.length,
      subagents: counted.length - listed.length,
      messages: messages.length,
      userMessages: messages.filter(({ isUser }) => isUser).length,
      toolCalls: calls.length,
      linesAdded: sumOf(counted, 'totalLinesAdded'),
      linesRemoved: sumOf(counted, 'totalLinesRemoved'),
      activeDays: days.size,
    },
    undated: {
      messages: scope.flatMap((chat) => chat.thread).filter(({ atMs }) => atMs === null).length,
      chats: scope.filter((c) => !c.isSubagent && c.thread.every(({ atMs }) => atMs === null)).length,
    },
    series: seriesOf(local, order.unit),
    byProject: sorted(
      grouped(messages, ({ chat }) => chat.root).map(([name, its]) => ({ name, ...sharesOf(its) })),
      ({ messages: count }) => count,
    ),
    byModel: sorted(
      grouped(messages, ({ model }) => model).map(([name, its]) => ({ name, ...sharesOf(its) })),
      ({ messages: count }) => count,
    ),
    byTool: sorted(
      grouped(calls, ({ name }) => name).map(([name, its]) => ({ name, ...endsOf(its) })),
      (tool) => tool.calls,
    ),
    byMode: sorted(
      grouped(listed, ({ row }) => (row['unifiedMode'] as string | undefined) ?? null).map(([name, its]) => ({
        name,
        chats: its.length,
      })),
      (mode) => mode.chats,
    ),
    byHour: Array.from({ length: 24 }, (_, hour) => local.filter((message) => message.hour === hour).length),
    byWeekday: Array.from({ length: 7 }, (_, day) => local.filter(({ weekday }) => weekday === day + 1).length),
    byHourOfWeek: Array.from({ length: 7 }, (_, day) =>
      Array.from(
        { length: 24 },
        (_hour, hour) => local.filter((message) => message.weekday === day + 1 && message.hour === hour).length,
      ),
    ),
    topFiles: filesOf(calls),
  }
}

interface LocalTime {
  readonly day: string
  readonly hour: number
  readonly weekday: number
  /** The first day of its bucket. */
  readonly start: string
}

function localTime(ms: number, { timeZone, unit }: Recounting): LocalTime {
  const at = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone)
  const date = at.toPlainDate()
  const start =
    unit === 'day' ? date : unit === 'month' ? date.with({ day: 1 }) : date.subtract({ days: date.dayOfWeek - 1 })
  return { day: date.toString(), hour: at.hour, weekday: at.dayOfWeek, start: start.toString() }
}

const parentOf = ({ id, row }: RawChat, chats: readonly RawChat[]): string | null => {
  const named = row['subagentInfo'] as { parentComposerId: string } | undefined
  const parent = chats.find((chat) => ((chat.row['subagentComposerIds'] ?? []) as string[]).includes(id))
  return named?.parentComposerId ?? parent?.id ?? null
}

/** A subagent belongs to its parent's project. */
const rootOf = (chat: RawChat, chats: readonly RawChat[]): string | null => {
  const parent = parentOf(chat, chats)
  return chat.root ?? chats.find(({ id }) => id === parent)?.root ?? null
}

function sumOf(chats: readonly RawChat[], field: string): number | null {
  const known = chats.flatMap(({ row }) => (row[field] === undefined ? [] : [Number(row[field])]))
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
}

function grouped<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): (readonly [Key, Item[]])[] {
  const groups = new Map<Key, Item[]>()
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return [...groups]
}

/** By count, highest first; a missing name comes after the others. */
const sorted = <Row extends { readonly name: string | null }>(rows: readonly Row[], by: (row: Row) => number): Row[] =>
  rows.toSorted((one, other) => by(other) - by(one) || ((one.name ?? '\uffff') < (other.name ?? '\uffff') ? -1 : 1))

interface OfChat {
  readonly chat: { readonly id: string; readonly isSubagent: boolean }
}

const sharesOf = (messages: readonly OfChat[]): { chats: number; messages: number } => ({
  chats: new Set(messages.filter(({ chat }) => !chat.isSubagent).map(({ chat }) => chat.id)).size,
  messages: messages.length,
})

function seriesOf(messages: readonly (RawMessage & OfChat & LocalTime)[], unit: Recounting['unit']) {
  const byStart = new Map(grouped(messages, ({ start }) => start))
  const starts = [...byStart.keys()].sort()
  return datesOf(starts, unit).map((start) => {
    const its = byStart.get(start) ?? []
    const { chats } = sharesOf(its)
    const userMessages = its.filter(({ isUser }) => isUser).length
    const toolCalls = its.flatMap(({ call }) => call ?? []).length
    return { start, chats, messages: its.length, userMessages, toolCalls }
  })
}

/** All buckets from the first to the last, including empty ones. */
function datesOf(starts: readonly string[], unit: Recounting['unit']): string[] {
  const dates = starts.slice(0, 1)
  for (const last = starts.at(-1) ?? ''; (dates.at(-1) ?? last) < last;) {
    dates.push(
      Temporal.PlainDate.from(dates.at(-1) ?? last)
        .add({ [`${unit}s`]: 1 })
        .toString(),
    )
  }
  return dates
}

type Call = NonNullable<RawMessage['call']>

function endsOf(calls: readonly Call[]) {
  const of = (wanted: string): number => calls.filter(({ status }) => status === wanted).length
  return { calls: calls.length, errors: of('error'), rejected: of('rejected') }
}

const reading = ['read_file', 'read_file_v2']
const editing = ['edit_file', 'edit_file_v2', 'search_replace', 'delete_file']

function filesOf(calls: readonly Call[]) {
  const touched = calls.filter(({ status }) => status === 'completed' || status === 'running')
  const count = (path: string, tools: readonly string[]): number =>
    touched.filter((call) => call.path === path && tools.includes(call.name)).length
  return [...new Set(touched.flatMap(({ path }) => path ?? []))]
    .map((path) => ({ path, reads: count(path, reading), edits: count(path, editing) }))
    .filter(({ reads, edits }) => reads + edits > 0)
    .sort((one, other) => other.reads + other.edits - one.reads - one.edits || (one.path < other.path ? -1 : 1))
}
