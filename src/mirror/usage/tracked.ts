import type { ChatId } from '../../model/ids.ts'
import type { TrackedWrite } from '../../model/commit.ts'
import type { Batch } from '../write/batch.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'

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
  const models = merged(held === undefined ? [write.models] : [parseModels(held.models), write.models])
  const next = {
    firstAtMs: Math.min(write.firstAtMs, held?.firstAtMs ?? Infinity),
    lastAtMs: Math.max(write.lastAtMs, held?.lastAtMs ?? 0),
    models: JSON.stringify([...models].sort(byTime)),
  }
  if (held?.firstAtMs === next.firstAtMs && held.lastAtMs === next.lastAtMs && held.models === next.models) return false
  prepared(db, SAVE).run(chatId, source, hour, next.firstAtMs, next.lastAtMs, next.models)
  return true
}

export interface HeldHour {
  readonly firstAtMs: number
  readonly lastAtMs: number
  /** JSON: pairs of a model and its last use in epoch milliseconds, latest first. */
  readonly models: string
}

/** Cursor's records of a chat, from all hours and sources. */
export interface TrackedFacts {
  readonly firstAtMs: number
  readonly lastAtMs: number
  /** Latest first. */
  readonly models: readonly string[]
}

const LIST = `
select first_at as firstAtMs, last_at as lastAtMs, models from tracked where chat_id = ? order by hour, source
`

export const listTracked = (db: Mirror, chatId: string): HeldHour[] => prepared<HeldHour>(db, LIST).all(chatId)

export function readTracked(db: Mirror, chatId: ChatId): TrackedFacts | null {
  const hours = listTracked(db, chatId)
  if (hours.length === 0) return null
  const models = merged(hours.map((hour) => parseModels(hour.models)))
  return {
    firstAtMs: hours.reduce((first, { firstAtMs }) => Math.min(first, firstAtMs), Infinity),
    lastAtMs: hours.reduce((last, { lastAtMs }) => Math.max(last, lastAtMs), 0),
    models: [...models].sort(byTime).map(([name]) => name),
  }
}

export const parseModels = (json: string): ReadonlyMap<string, number> =>
  new Map(JSON.parse(json) as readonly (readonly [name: string, atMs: number])[])

function merged(all: readonly ReadonlyMap<string, number>[]): Map<string, number> {
  const latest = new Map<string, number>()
  for (const models of all) {
    for (const [name, atMs] of models) latest.set(name, Math.max(atMs, latest.get(name) ?? 0))
  }
  return latest
}

type UsedModel = readonly [name: string, atMs: number]

const byTime = ([one, oneAtMs]: UsedModel, [other, otherAtMs]: UsedModel): number =>
  otherAtMs - oneAtMs || (one < other ? -1 : 1)
