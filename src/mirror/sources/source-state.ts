import type { ChatId, MessageId, SourceId } from '../../model/ids.ts'
import type { Role } from '../../model/message.ts'
import type { SourceState } from '../../model/source.ts'
import type { Position } from '../write/batch.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'

export interface SourceName {
  readonly id: SourceId
  readonly kind: string
  readonly path: string
  /** If several sources hold a chat, the one with the lowest rank decides. */
  readonly rank: number
}

const ADD_SOURCE = `
insert into sources (id, kind, path, rank, state) values (?, ?, ?, ?, 'missing')
on conflict (id) do update set kind = excluded.kind, path = excluded.path, rank = excluded.rank
  where kind = '' or rank <> excluded.rank
`
const FIND_SOURCE = `select num from sources where id = ?`

/** The number of this source in other tables. Adds the source if it is new, and completes it if only its id was salvaged. */
export function sourceNum(db: Mirror, source: SourceName): number {
  prepared(db, ADD_SOURCE).run(source.id, source.kind, source.path, source.rank)
  const row = prepared<{ num: number }>(db, FIND_SOURCE).get(source.id)
  if (row === undefined) throw new Error('an insert left no row')
  return row.num
}

const FIRST_ID = `select coalesce(first_id, id) as id from sources where num = ?`

/** The id that the source had before its path changed. Ids of messages that were derived from it stay the same. */
export function firstSourceId(db: Mirror, source: number): SourceId {
  const row = prepared<{ id: SourceId }>(db, FIRST_ID).get(source)
  if (row === undefined) throw new Error(`there is no source ${source}`)
  return row.id
}

const FIND_BY_PATH = `select num from sources where kind = ? and path = ?`

/** The number of the source with this kind and path; null before its first pass. */
export const findSource = (db: Mirror, kind: string, path: string): number | null =>
  prepared<{ num: number }>(db, FIND_BY_PATH).get(kind, path)?.num ?? null

const READ_POSITION = `
select identity, signature, watermark, watermark_key as watermarkKey,
  counted_at as countedAtMs
from sources where num = ?
`

/** `identity` is null before the first pass. `countedAtMs` is when the rows were last compared by count with the source. */
export interface HeldPosition extends Omit<Position, 'identity'> {
  readonly identity: string | null
  readonly countedAtMs: number | null
}

export function readPosition(db: Mirror, source: number): HeldPosition {
  const row = prepared<HeldPosition>(db, READ_POSITION).get(source)
  if (row === undefined) throw new Error(`there is no source ${source}`)
  return row
}

const SAVE_STATE = `
update sources set state = ?, detail = ?, last_sync_at = coalesce(?, last_sync_at) where num = ?
`

/** @param syncedAtMs when a pass succeeded, in epoch milliseconds; null keeps the former time */
export function saveSourceState(
  db: Mirror,
  source: number,
  state: SourceState,
  detail: string | null,
  syncedAtMs: number | null,
): void {
  prepared(db, SAVE_STATE).run(state, detail, syncedAtMs, source)
}

const SAVE_COUNTS = `update sources set total_rows = ?, null_keys = ?, counted_at = ? where num = ?`

export function saveCounts(
  db: Mirror,
  source: number,
  counts: { readonly totalRows: number; readonly nullKeys: number },
  nowMs: number,
): void {
  prepared(db, SAVE_COUNTS).run(counts.totalRows, counts.nullKeys, nowMs, source)
}

const LIST_ROWS = `
select key, source_rowid as rowid, octets, checksum, missed_at as missedAtMs from source_rows
where source = ? and key > ? and key <= ? and is_live = 1
`
const FIND_ROW = `
select key, source_rowid as rowid, octets, checksum, missed_at as missedAtMs from source_rows
where source = ? and key = ? and is_live = 1
`
const WAS_ROW = `select 1 from source_rows where source = ? and key = ? and is_live = 0`
const COUNT_ROWS = `select count(*) as count from source_rows where source = ? and is_live = 1`

export interface HeldRow {
  readonly key: string
  readonly rowid: number
  readonly octets: number
  readonly checksum: number | null
  /** Since when the row is missing, while the loss is not confirmed yet; see `missed-rows.ts`. */
  readonly missedAtMs: number | null
}

/** Rows that the source held at the last pass, with `after < key <= last`. */
export function listHeldRows(db: Mirror, source: number, after: string, last: string): HeldRow[] {
  return prepared<HeldRow>(db, LIST_ROWS).all(source, after, last)
}

export function findHeldRow(db: Mirror, source: number, key: string): HeldRow | undefined {
  return prepared<HeldRow>(db, FIND_ROW).get(source, key)
}

/** Whether the source once held this row and no longer does. */
export function isGoneRow(db: Mirror, source: number, key: string): boolean {
  return prepared(db, WAS_ROW).get(source, key) !== undefined
}

const LIST_ISSUES = `select key from row_issues where source = ?`

/** The keys of rows that could not be read. */
export const listIssueKeys = (db: Mirror, source: number): readonly string[] =>
  prepared<string>(db, LIST_ISSUES).pluck().all(source)

const IS_KNOWN = `
select 1 from source_rows where source = ? and key = ? union all select 1 from row_issues where source = ? and key = ?
`

/** Whether the mirror knows this row: it is held, was held, or could not be read. */
export const isRowKnown = (db: Mirror, source: number, key: string): boolean =>
  prepared(db, IS_KNOWN).get(source, key, source, key) !== undefined

export function countHeldRows(db: Mirror, source: number): number {
  return prepared<{ count: number }>(db, COUNT_ROWS).get(source)?.count ?? 0
}

const RECENT_CHATS = `
select id from chats where source = ? and last_activity_at > ? order by last_activity_at desc limit ?
`

/** Chats of this source with activity since this time, newest first. */
export function listRecentChats(db: Mirror, source: number, sinceMs: number, limit: number): ChatId[] {
  return prepared<{ id: ChatId }>(db, RECENT_CHATS)
    .all(source, sinceMs, limit)
    .map((row) => row.id)
}

const DROP_BAD_KEYS = `delete from row_issues where source = ? and reason = 'bad-key'`
const ADD_BAD_KEY = `
insert into row_issues (source, key, reason, octets, noted_at) values (?, ?, 'bad-key', null, ?) on conflict do nothing
`
const COUNT_BAD_KEYS = `select count(*) as count from row_issues where source = ? and reason = 'bad-key'`

/** Replaces the list of rows whose key has a chat's prefix but names no chat. Each walk over all keys makes a new list. */
export function replaceBadKeys(db: Mirror, source: number, names: readonly string[], nowMs: number): void {
  db.transaction(() => {
    prepared(db, DROP_BAD_KEYS).run(source)
    for (const name of names) prepared(db, ADD_BAD_KEY).run(source, name, nowMs)
  })()
}

export function countBadKeys(db: Mirror, source: number): number {
  return prepared<{ count: number }>(db, COUNT_BAD_KEYS).get(source)?.count ?? 0
}

const LIST_ROLES = `select messages.id, role from messages join chats on chats.num = chat where chats.id = ?`

export function listRoles(db: Mirror, chatId: ChatId): Map<MessageId, Role> {
  const rows = prepared<{ id: MessageId; role: Role }>(db, LIST_ROLES).all(chatId)
  return new Map(rows.map(({ id, role }) => [id, role]))
}

/** Replaces the rowid of rows that an older decoder read. It differs from every real rowid, so the row is read again. */
export const OUTDATED_ROWID = -1

const READ_DECODER = `select decoder from sources where num = ?`
const OUTDATE_ROWS = `
update source_rows set source_rowid = ${OUTDATED_ROWID}, checksum = null where source = ? and is_live = 1
`
const SAVE_DECODER = `update sources set decoder = ?, signature = null, watermark = null, watermark_key = null where num = ?`
const DROP_SWEEP = `delete from sweeps where source = ?`

/**
 * Saves the version of the decoder that reads the source from now on. If another version read it before, all its rows
 * count as changed, and passes read them again, even if passes are interrupted.
 * @returns whether the version changed
 */
export function noteDecoder(db: Mirror, source: number, version: number): boolean {
  if (prepared<{ decoder: number }>(db, READ_DECODER).get(source)?.decoder === version) return false
  db.transaction(() => {
    prepared(db, OUTDATE_ROWS).run(source)
    prepared(db, SAVE_DECODER).run(version, source)
    prepared(db, DROP_SWEEP).run(source)
  })()
  return true
}
