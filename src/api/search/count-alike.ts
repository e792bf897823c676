import type { Mirror } from '../../mirror/open.ts'
import { monthOf } from '../periods.ts'
import { LOCAL } from '../queries/machines.ts'
import { rowsOf, valuesOf } from './match/statement.ts'
import type { FacetName } from './request.ts'
import type { FacetValue } from '../answers/search.ts'

/** A value of a facet and how many of the given messages have it. */
export type CountedValue = Omit<FacetValue, 'countIsExact'>

/** How many values of a facet are returned. */
const VALUES_MAX = 100

/** Messages of one chat that are alike in all that the wanted facets count. What none of them counts is null. */
export interface Alike {
  readonly chat: number
  readonly role: string | null
  readonly model: string | null
  /** The facts of a message as a JSON list. */
  readonly marks: string | null
  readonly count: number
  readonly firstKey: number
  readonly lastKey: number
  /** How many have a time, the first one and the last one in epoch milliseconds. */
  readonly timed: number | null
  readonly firstMs: number | null
  readonly lastMs: number | null
}

/** The number of messages by value. */
type Counts = ReadonlyMap<string, number>

const COLUMNS = [
  ['role', 'role'],
  ['model', 'model'],
  ['tool', 'marks'],
] as const

/** Reads each message once, for groups and all facets. */
export function readAlike(db: Mirror, keys: readonly number[], facets: readonly FacetName[]): readonly Alike[] {
  const isWanted = ([facet]: (typeof COLUMNS)[number]): boolean => facets.includes(facet)
  const columns = COLUMNS.map((each) => (isWanted(each) ? `m.${each[1]}` : `null as ${each[1]}`))
  const isTimed = facets.includes('month')
  const times = isTimed
    ? 'count(m.created_at) as timed, min(m.created_at) as firstMs, max(m.created_at) as lastMs'
    : 'null as timed, null as firstMs, null as lastMs'
  const index = isTimed || COLUMNS.some(isWanted) ? '' : 'indexed by message_facts'
  return rowsOf<Alike>(
    db,
    `
    select m.chat, ${columns.join(', ')}, count(*) as count, min(m.key) as firstKey, max(m.key) as lastKey, ${times}
    from json_each(@keys) k cross join messages m ${index} on m.key = k.value
    group by ${['m.chat', ...COLUMNS.filter(isWanted).map(([, name]) => `m.${name}`)].join(', ')}
  `,
  ).all({ keys: JSON.stringify(keys) })
}

const PROJECTS = `
  select p.id as value, p.name as label, sum(k.value) as count
  from json_each(@chats) k cross join chats c on c.num = cast(k.key as integer) cross join projects p on p.num = c.project
  group by p.num order by count desc, label limit @limit
`

export function countProjects(db: Mirror, alike: readonly Alike[]): readonly CountedValue[] {
  return rowsOf<CountedValue>(db, PROJECTS).all({ chats: countByChat(alike), limit: VALUES_MAX })
}

/** With the user, because several users may have a machine of the same name. */
const MACHINES = `
  select ifnull(h.user || '/' || h.name, '${LOCAL}') as value, ifnull(h.name, '${LOCAL}') as label, sum(k.value) as count
  from json_each(@chats) k cross join chats c on c.num = cast(k.key as integer) left join machines h on h.id = c.machine
  group by 1 order by count desc, label limit @limit
`

export function countMachines(db: Mirror, alike: readonly Alike[]): readonly CountedValue[] {
  return rowsOf<CountedValue>(db, MACHINES).all({ chats: countByChat(alike), limit: VALUES_MAX })
}

const MODELS_OF_CHATS = `
  select c.model, sum(k.value) as count
  from json_each(@chats) k cross join chats c on c.num = cast(k.key as integer) where c.model is not null
  group by 1
`

/** A message without a model has the model of its chat. */
export function countModels(db: Mirror, alike: readonly Alike[]): Counts {
  const chats = countByChat(alike.filter(({ model }) => model === null))
  const ofChats = rowsOf<{ model: string; count: number }>(db, MODELS_OF_CHATS).all({ chats })
  return sumBy([...alike, ...ofChats], ({ model }) => (model === null ? [] : [model]))
}

export const countRoles = (alike: readonly Alike[]): Counts => sumBy(alike, ({ role }) => (role === null ? [] : [role]))

export function countTools(alike: readonly Alike[]): Counts {
  // Few lists differ, so each is parsed once.
  const ofMarks = sumBy(alike, ({ marks }) => (marks === null ? [] : [marks]))
  const rows = [...ofMarks].map(([marks, count]) => ({ tools: toolsOf(marks), count }))
  return sumBy(rows, ({ tools }) => tools)
}

const toolsOf = (marks: string): readonly string[] =>
  (JSON.parse(marks) as readonly string[]).flatMap((mark) => (mark.startsWith('tool:') ? [mark.slice(5)] : []))

function sumBy<Row extends { readonly count: number }>(
  rows: readonly Row[],
  valuesIn: (row: Row) => readonly string[],
): Counts {
  const sums = new Map<string, number>()
  for (const row of rows) for (const value of valuesIn(row)) sums.set(value, (sums.get(value) ?? 0) + row.count)
  return sums
}

/** An object as JSON: the number of messages by the number of their chat. */
function countByChat(alike: readonly Alike[]): string {
  return JSON.stringify(Object.fromEntries(sumBy(alike, ({ chat }) => [String(chat)])))
}

/** The most frequent values first. Others by their bytes, as SQLite sorts. */
export function mostFrequent(counts: Counts): readonly CountedValue[] {
  return [...counts]
    .map(([value, count]) => ({ value, label: value, count }))
    .sort((a, b) => b.count - a.count || Buffer.compare(Buffer.from(a.label), Buffer.from(b.label)))
    .slice(0, VALUES_MAX)
}

const TIMES = `
  select m.created_at from json_each(@keys) k cross join messages m on m.key = k.value
  where m.created_at is not null and m.chat in (select value from json_each(@chats))
`

/** When the messages of a chat were written, in epoch milliseconds, both inclusive. */
interface Span {
  readonly chat: number
  readonly firstMs: number
  readonly lastMs: number
  readonly count: number
}

/** The newest month first. @param keys of all these messages */
export function countMonths(
  db: Mirror,
  alike: readonly Alike[],
  keys: readonly number[],
  timeZone: string,
): readonly CountedValue[] {
  const spans = alike.flatMap(({ chat, timed, firstMs, lastMs }) =>
    timed === null || firstMs === null || lastMs === null ? [] : [{ chat, firstMs, lastMs, count: timed }],
  )
  const { months, across } = byMonth(spans, timeZone)
  if (across.size === 0) return months
  // Only if a chat goes on in another month, the time of each of its messages is read.
  const times = valuesOf<number>(db, TIMES).all({
    keys: JSON.stringify(keys),
    chats: JSON.stringify([...across]),
  })
  const single = times.map((time) => ({ chat: 0, firstMs: time, lastMs: time, count: 1 }))
  return byMonth([...spans.filter(({ chat }) => !across.has(chat)), ...single], timeZone).months
}

interface ByMonth {
  readonly months: readonly CountedValue[]
  /** Chats with a span over two months. Such a span is not counted. */
  readonly across: ReadonlySet<number>
}

function byMonth(spans: readonly Span[], timeZone: string): ByMonth {
  const months: { value: string; label: string; count: number }[] = []
  const across = new Set<number>()
  let startMs = Infinity
  for (const { chat, firstMs, lastMs, count } of spans.toSorted((a, b) => b.lastMs - a.lastMs)) {
    if (lastMs < startMs) {
      const month = monthOf(lastMs, timeZone)
      startMs = month.startMs
      months.push({ value: month.name, label: month.name, count: 0 })
    }
    const last = months.at(-1)
    if (firstMs < startMs) across.add(chat)
    else if (last !== undefined) last.count += count
  }
  return { months: months.slice(0, VALUES_MAX), across }
}
