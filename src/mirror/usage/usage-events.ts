import { isChosenModel, modelFamily } from '../../model/model-name.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../sql.ts'
import { sortKeyFloor } from '../write/messages.ts'

/** One row of a usage file that the user downloaded. Missing values are null. */
export interface UsageEvent {
  /** Equal for rows with equal content. */
  readonly identity: string
  /** Line in the file, starting at 1. */
  readonly line: number
  /** Epoch milliseconds. */
  readonly atMs: number
  readonly kind: string | null
  readonly model: string | null
  readonly user: string | null
  readonly input: number | null
  readonly output: number | null
  readonly cacheRead: number | null
  readonly cacheWrite: number | null
  readonly total: number | null
  readonly cents: number | null
}

/** `rows` is the sum of `matched`, `unmatched` and `already`. */
export interface UsageImport {
  readonly rows: number
  /** New rows whose chat was found, and new rows whose chat was not found. */
  readonly matched: number
  readonly unmatched: number
  /** Rows that were already imported from an earlier file. */
  readonly already: number
  /** Rows of earlier files whose chat was found only now. */
  readonly rematched: number
}

const ADD = `
insert into usage_events
  (identity, occurrence, at, kind, model, user, input, output, cache_read, cache_write, total, cents, imported_at)
values
  (@identity, (select 1 + ifnull(max(occurrence), 0) from usage_events where identity = @identity),
    @at, @kind, @model, @user, @input, @output, @cacheRead, @cacheWrite, @total, @cents, @now)
`
const COMPLETE = `
update usage_events set
  at = max(at, @at), kind = coalesce(@kind, kind), user = coalesce(user, @user), cents = coalesce(@cents, cents),
  input = coalesce(input, @input), output = coalesce(output, @output), total = coalesce(total, @total),
  cache_read = coalesce(cache_read, @cacheRead), cache_write = coalesce(cache_write, @cacheWrite)
where num = @num
`

/** Saves the rows of a file without duplicates, and looks for the chats of all rows that have none. One transaction. */
export function importUsage(db: Mirror, events: readonly UsageEvent[], nowMs: number): UsageImport {
  return db.transaction(() => {
    const added = new Set<number>()
    const held: HeldEvents = new Map()
    for (const event of events) {
      const { line: _, atMs, identity, ...rest } = event
      const columns = { ...rest, at: Math.floor(atMs) }
      const num = takeHeld(db, held, event)
      if (num !== undefined) prepared(db, COMPLETE).run({ ...columns, num })
      else added.add(Number(prepared(db, ADD).run({ ...columns, identity, now: nowMs }).lastInsertRowid))
    }
    const found = matchUsage(db)
    const matched = found.filter((num) => added.has(num)).length
    return {
      rows: events.length,
      matched,
      unmatched: added.size - matched,
      already: events.length - added.size,
      rematched: found.length - matched,
    }
  })()
}

const MINUTE_MS = 60_000
const isMinute = (ms: number): boolean => ms % MINUTE_MS === 0

const LIST_ALIKE = `
select num, at, user from usage_events
where at between @minute and @minute + ${MINUTE_MS - 1} and model is @model and @inAll =
  coalesce(total, ifnull(input, 0) + ifnull(output, 0) + ifnull(cache_read, 0) + ifnull(cache_write, 0))
order by num
`

/** Rows of earlier files that no row of this one was found in yet, by what every version of the file has. */
type HeldEvents = Map<string, HeldEvent[]>
interface HeldEvent {
  readonly num: number
  readonly at: number
  readonly user: string | null
}

/**
 * Takes the row that an earlier file brought of this event. Each is taken once, because equal rows of one file are separate
 * events. Files of 2025 have times in minutes, later ones in milliseconds: a row with only a minute is any within it. Users
 * are the same if they are equal or one is unknown.
 * @returns its number; undefined if the event is new
 */
function takeHeld(db: Mirror, held: HeldEvents, event: UsageEvent): number | undefined {
  const { model, input, output, cacheRead, cacheWrite, total } = event
  const at = Math.floor(event.atMs)
  const inAll = total ?? (input ?? 0) + (output ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0)
  const alike = { minute: at - (at % MINUTE_MS), model, inAll }
  const key = JSON.stringify(alike)
  const rows = held.get(key) ?? prepared<HeldEvent>(db, LIST_ALIKE).all(alike)
  held.set(key, rows)
  const place = rows.findIndex(
    (row) =>
      (row.at === at || isMinute(row.at) || isMinute(at)) &&
      (row.user === event.user || row.user === null || event.user === null),
  )
  return place === -1 ? undefined : rows.splice(place, 1)[0]?.num
}

const named = (pick: 'min' | 'max'): string => `(
  select ${pick}(n.model) from messages n indexed by token_counts where n.chat = c.num and n.is_orphan = 0
)`

/**
 * SQL expression over a chat `c`: the model of its messages, if they all name the same one. The model that is selected in
 * the chat is not used: it applies to the next message, not to former ones.
 */
export const ONLY_MODEL = `iif(${named('min')} = ${named('max')}, ${named('min')}, null)`

/** An answer is written during its request or soon after. Requests of two chats are rarely this close. */
const NEAR_MS = 5 * 60_000
/** If very many messages have the same time, their keys can lie behind that time. */
const KEY_SLACK = 64 * 1024 * 1024

const LIST_UNMATCHED = `select num, at as atMs, model, user from usage_events where chat is null order by at`
const ANSWERS_NEAR = `
select distinct m.chat, coalesce(m.model, ${ONLY_MODEL}) as model
from messages m join chats c on c.num = m.chat
where m.key >= ? and m.key < ? and m.created_at between ? and ? and m.role = 'assistant' and m.is_orphan = 0
  and m.created_at_source in ('message', 'header', 'timing') and c.is_draft = 0 and c.machine is null
`
const MATCHED_USERS = `select distinct user from usage_events where chat is not null and user is not null`
const SAVE = `update usage_events set chat = ? where num = ?`

/**
 * Looks for the chat of every event that has none. A chat matches if it has an answer within five minutes of the event
 * whose model can be the event's, and if it is the only such chat. Chats of other machines may be another person's. The
 * chats of this machine belong to one person, but a team's file also has rows of others who worked at the same time. So
 * of rows that name a user, only those of one user are matched.
 * @returns the numbers of the events whose chat was found
 */
function matchUsage(db: Mirror): readonly number[] {
  // Row by row, because a file may have very many.
  const unmatched = prepared<Pick<UsageEvent, 'atMs' | 'model' | 'user'> & { readonly num: number }>(db, LIST_UNMATCHED)
  const fitting: { readonly num: number; readonly user: string | null; readonly chat: number }[] = []
  for (const { num, user, ...event } of unmatched.iterate()) {
    const chat = findChat(db, event)
    if (chat !== null) fitting.push({ num, user, chat })
  }
  const owners = prepared<string>(db, MATCHED_USERS).pluck().all()
  const [owner, ...others] = new Set(owners.length > 0 ? owners : fitting.flatMap(({ user }) => user ?? []))
  const own = fitting.filter(({ user }) => user === null || (user === owner && others.length === 0))
  for (const { num, chat } of own) prepared(db, SAVE).run(chat, num)
  return own.map(({ num }) => num)
}

function findChat(db: Mirror, { atMs, model }: Pick<UsageEvent, 'atMs' | 'model'>): number | null {
  const [fromMs, toMs] = [atMs - NEAR_MS, atMs + NEAR_MS]
  const keys = [BigInt(sortKeyFloor(fromMs)), BigInt(sortKeyFloor(toMs + 1) + KEY_SLACK)]
  const near = prepared<{ chat: number; model: string | null }>(db, ANSWERS_NEAR).all(...keys, fromMs, toMs)
  const chats = new Set(near.flatMap((answer) => (mayBeOne(answer.model, model) ? answer.chat : [])))
  const [first = null, ...others] = chats
  return others.length === 0 ? first : null
}

/** An unknown model fits every other one. If Cursor chose the model, both sides must say so. */
function mayBeOne(answer: string | null, event: string | null): boolean {
  if (answer === null || event === null) return true
  if (isChosenModel(answer) || isChosenModel(event)) return isChosenModel(answer) && isChosenModel(event)
  return modelFamily(answer) === modelFamily(event)
}
