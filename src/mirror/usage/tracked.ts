import type { ChatId } from '../../model/ids.ts'
import type { TrackedWrite } from '../../model/commit.ts'
import type { Batch } from '../write/batch.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../sql.ts'

const HOUR_MS = 3_600_000

const FIND = `
select first_at as firstAtMs, last_at as lastAtMs, models from tracked where chat_id = ? and source = ? and hour = ?
`
const SAVE = `
insert into tracked (chat_id, source, hour, first_at, last_at, models) values (?, ?, ?, ?, ?, ?)
on conflict do update set first_at = excluded.first_at, last_at = excluded.last_at, models = excluded.models
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
export function writeTracked(db: Mirror, { source, tracked, scoredCommits }: Batch): ChatId[] {
  for (const { sha, chatLines } of scoredCommits) prepared(db, SAVE_COMMIT).run(sha, source, chatLines)
  const changed = tracked.filter((write) => saveHour(db, source, write)).map(({ chatId }) => chatId)
  return changed.filter((chatId) => prepared(db, IS_OPEN).get(chatId) !== undefined)
}

function saveHour(db: Mirror, source: number, { chatId, ...write }: TrackedWrite): boolean {
  const hour = Math.floor(write.firstAtMs / HOUR_MS)
  const held = prepared<HeldHour>(db, FIND).get(chatId, source, hour)
  const given = { ...write, models: JSON.stringify([...write.models]) }
  const { firstAtMs, lastAtMs, ...merged } = merge(held === undefined ? [given] : [held, given])
  const models = JSON.stringify(merged.models)
  if (held?.firstAtMs === firstAtMs && held.lastAtMs === lastAtMs && held.models === models) return false
  prepared(db, SAVE).run(chatId, source, hour, firstAtMs, lastAtMs, models)
  return true
}

export interface HeldHour {
  readonly firstAtMs: number
  readonly lastAtMs: number
  /** JSON: pairs of a model and its last use in epoch milliseconds, latest first. */
  readonly models: string
}

type UsedModel = readonly [name: string, atMs: number]

/** Cursor's records of a chat, from all hours and sources. */
export interface TrackedFacts {
  readonly firstAtMs: number
  readonly lastAtMs: number
  /** With their last use, latest first. */
  readonly models: readonly UsedModel[]
}

const LIST = `
select first_at as firstAtMs, last_at as lastAtMs, models from tracked where chat_id = ? order by hour, source
`

export const listTracked = (db: Mirror, chatId: string): HeldHour[] => prepared<HeldHour>(db, LIST).all(chatId)

export function readTracked(db: Mirror, chatId: ChatId): TrackedFacts | null {
  const hours = listTracked(db, chatId)
  return hours.length === 0 ? null : merge(hours)
}

export const parseModels = (json: string): readonly UsedModel[] => JSON.parse(json) as readonly UsedModel[]

function merge(hours: readonly HeldHour[]): TrackedFacts {
  const latest = new Map<string, number>()
  for (const [name, atMs] of hours.flatMap(({ models }) => parseModels(models))) {
    latest.set(name, Math.max(atMs, latest.get(name) ?? 0))
  }
  return {
    firstAtMs: Math.min(...hours.map(({ firstAtMs }) => firstAtMs)),
    lastAtMs: Math.max(...hours.map(({ lastAtMs }) => lastAtMs)),
    models: [...latest].sort(([one, oneMs], [other, otherMs]) => otherMs - oneMs || (one < other ? -1 : 1)),
  }
}
