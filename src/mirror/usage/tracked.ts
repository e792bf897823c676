import type { ChatId } from '../../model/ids.ts'
import type { Change } from '../../model/change.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../sql.ts'

const HOUR_MS = 3_600_000

const hoursWith = (more: string): string => `
select first_at as firstAtMs, last_at as lastAtMs, models from tracked where chat_id = ? ${more} order by hour, source
`
const LIST = hoursWith('')
const FIND = hoursWith('and source = ? and hour = ?')
const SAVE = `
insert into tracked (chat_id, source, hour, first_at, last_at, models) values (?, ?, ?, ?, ?, ?)
on conflict do update set first_at = excluded.first_at, last_at = excluded.last_at, models = excluded.models
where (first_at, last_at, models) <> (excluded.first_at, excluded.last_at, excluded.models)
`
const SAVE_COMMIT = `
insert into scored_commits (sha, source, chat_lines) values (?, ?, ?)
on conflict do update set chat_lines = excluded.chat_lines
where chat_lines is not excluded.chat_lines
`

/** True for a chat that the record can complete. Other chats need not be written again. */
const IS_OPEN = `
select 1 from chats where id = ? and (
  model is null or model_source = 'tracking' or cursor_created_at is null or cursor_updated_at is null
)
`

/**
 * Merges new records into the known hours; what Cursor deletes stays in the mirror.
 * @returns the chats whose facts this may change
 */
export function writeTracked(db: Mirror, { source, tracked, scoredCommits }: Change): ChatId[] {
  for (const { sha, chatLines } of scoredCommits) prepared(db, SAVE_COMMIT).run(sha, source, chatLines)
  return tracked.flatMap(({ chatId, ...write }) => {
    const hour = Math.floor(write.firstAtMs / HOUR_MS)
    const held = listHours(db, FIND, chatId, source, hour)
    const { firstAtMs, lastAtMs, models } = merge([...held, { ...write, models: [...write.models] }])
    const saved = prepared(db, SAVE).run(chatId, source, hour, firstAtMs, lastAtMs, JSON.stringify(models))
    return saved.changes > 0 && prepared(db, IS_OPEN).get(chatId) !== undefined ? chatId : []
  })
}

/** Cursor's records of a chat, of an hour or of all. */
export interface TrackedFacts {
  readonly firstAtMs: number
  readonly lastAtMs: number
  /** With their last use in epoch milliseconds, latest first. The mirror has them as JSON. */
  readonly models: readonly (readonly [name: string, atMs: number])[]
}

const listHours = (db: Mirror, sql: string, ...values: readonly unknown[]): TrackedFacts[] =>
  prepared<Omit<TrackedFacts, 'models'> & { readonly models: string }>(db, sql)
    .all(...values)
    .map((hour) => ({ ...hour, models: JSON.parse(hour.models) as TrackedFacts['models'] }))

/** From all hours and sources. */
export const listTracked = (db: Mirror, chatId: string): TrackedFacts[] => listHours(db, LIST, chatId)

export function readTracked(db: Mirror, chatId: ChatId): TrackedFacts | null {
  const hours = listTracked(db, chatId)
  return hours.length === 0 ? null : merge(hours)
}

function merge(hours: readonly TrackedFacts[]): TrackedFacts {
  const latest = new Map<string, number>()
  for (const [name, atMs] of hours.flatMap(({ models }) => models)) {
    latest.set(name, Math.max(atMs, latest.get(name) ?? 0))
  }
  return {
    firstAtMs: Math.min(...hours.map(({ firstAtMs }) => firstAtMs)),
    lastAtMs: Math.max(...hours.map(({ lastAtMs }) => lastAtMs)),
    models: [...latest].sort(([one, oneMs], [other, otherMs]) => otherMs - oneMs || (one < other ? -1 : 1)),
  }
}
