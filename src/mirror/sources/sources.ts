import type { Mirror } from '../open.ts'
import { prepared } from '../sql.ts'
import type { Position } from '../../model/change.ts'
import type { ChatId, MessageId, SourceId } from '../../model/ids.ts'
import type { Role } from '../../model/message.ts'
import type { SourceState } from '../../model/source.ts'

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

/** The kind of sources for restored data: one for each mirror whose archives were restored. They have no live rows. */
export const ARCHIVE = 'archive'

/** The kind of sources for chats of other machines, one for each kind of store that they were read from. */
export const HUB = 'hub'

const LIST_RANKS = `select num, rank, kind from sources`

/** Precedence of sources that hold the same chat: the lowest rank first, then the source that was added first. */
export class SourceRanks {
  readonly #ranks: ReadonlyMap<number, number>
  readonly #archives: ReadonlySet<number>

  constructor(db: Mirror) {
    const rows = prepared<{ num: number; rank: number; kind: string }>(db, LIST_RANKS).all()
    this.#ranks = new Map(rows.map(({ num, rank }) => [num, rank]))
    this.#archives = new Set(rows.filter(({ kind }) => kind === ARCHIVE || kind === HUB).map(({ num }) => num))
  }

  of(source: number): number {
    return this.#ranks.get(source) ?? Number.MAX_SAFE_INTEGER
  }

  /** Whether what it says was noted elsewhere: in an archive, or by another machine. */
  isArchive(source: number): boolean {
    return this.#archives.has(source)
  }

  /** The better source first. */
  compare(a: number, b: number): number {
    return this.of(a) - this.of(b) || a - b
  }

  best(sources: readonly number[]): number | null {
    let best: number | null = null
    for (const source of sources) {
      if (best === null || this.compare(source, best) < 0) best = source
    }
    return best
  }
}

const NOTE = `update source_rows set missed_at = ? where source = ? and key = ? and is_live = 1`

/** Marks rows that vanished together with too many others: it may be an accident. They still count as held for now. */
export function noteMissed(db: Mirror, source: number, keys: readonly string[], nowMs: number): void {
  setMissed(db, source, keys, nowMs)
}

/** Clears the mark of rows that are back. */
export function forgetMissed(db: Mirror, source: number, keys: readonly string[]): void {
  setMissed(db, source, keys, null)
}

function setMissed(db: Mirror, source: number, keys: readonly string[], atMs: number | null): void {
  if (keys.length === 0) return
  db.transaction(() => {
    for (const key of keys) prepared(db, NOTE).run(atMs, source, key)
  })()
}

/** Rows of a source that vanished at once. They do not count as deleted until a later pass confirms it. */
export interface MissedRows {
  readonly rows: number
  /** How many rows the source held, including the missed ones. */
  readonly of: number
  /** When the first of them was missed, in epoch milliseconds. */
  readonly sinceMs: number
}

const SUM_UP = `
select count(*) as rows, min(missed_at) as sinceMs from source_rows where source = ? and missed_at is not null
`

export const countMissed = (db: Mirror, source: number): number =>
  prepared<{ rows: number }>(db, SUM_UP).get(source)?.rows ?? 0

export function readMissed(db: Mirror, source: number): MissedRows | null {
  const sum = prepared<{ rows: number; sinceMs: number | null }>(db, SUM_UP).get(source)
  if (sum === undefined || sum.sinceMs === null) return null
  return { rows: sum.rows, of: countHeldRows(db, source), sinceMs: sum.sinceMs }
}

/** Progress of a sweep: the comparison of every value of a source. */
export interface Sweep {
  /** State of the file when the last sweep that found every value equal began; null before the first such sweep. */
  readonly verifiedSignature: string | null
  /** State of the file when the current sweep began; null if none is running. */
  readonly signature: string | null
  /** Rows up to this rowid are already compared. */
  readonly afterRowid: number
  /** Epoch milliseconds. Every pause moves it forward, so the time from here to the end is working time only. */
  readonly startedAtMs: number
  /** Epoch milliseconds of the end of the last sweep, or of the current sweep's last slice; null before the first. */
  readonly endedAtMs: number | null
}

const READ = `
select verified_signature as verifiedSignature, signature, after_rowid as afterRowid, started_at as startedAtMs,
  ended_at as endedAtMs
from sweeps where source = ?
`
const SAVE = `
insert into sweeps (source, verified_signature, signature, after_rowid, started_at, ended_at) values (?, ?, ?, ?, ?, ?)
on conflict (source) do update set verified_signature = excluded.verified_signature, signature = excluded.signature,
  after_rowid = excluded.after_rowid, started_at = excluded.started_at, ended_at = excluded.ended_at
`

const noSweep: Sweep = { verifiedSignature: null, signature: null, afterRowid: 0, startedAtMs: 0, endedAtMs: null }

export const readSweep = (db: Mirror, source: number): Sweep => prepared<Sweep>(db, READ).get(source) ?? noSweep

export function saveSweep(db: Mirror, source: number, sweep: Sweep): void {
  const { verifiedSignature, signature, afterRowid, startedAtMs, endedAtMs } = sweep
  prepared(db, SAVE).run(source, verifiedSignature, signature, afterRowid, startedAtMs, endedAtMs)
}
