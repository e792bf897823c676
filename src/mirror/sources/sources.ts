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
  return Number(prepared(db, FIND_SOURCE).pluck().get(source.id))
}

const READ_ID = `select id from sources where num = ?`

/** The id of a source, from which ids of messages without an id are made. */
export const sourceIdOf = (db: Mirror, source: number): SourceId =>
  String(prepared(db, READ_ID).pluck().get(source)) as SourceId

const FIND_BY_PATH = `select num from sources where kind = ? and path = ?`

/** The number of the source with this kind and path; null before its first pass. */
export const findSource = (db: Mirror, kind: string, path: string): number | null =>
  prepared<number>(db, FIND_BY_PATH).pluck().get(kind, path) ?? null

const READ_POSITION = `
select identity, signature, watermark, watermark_key as watermarkKey, counted_at as countedAtMs
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

const LIVE_ROWS = `
select key, source_rowid as rowid, octets, checksum, missed_at as missedAtMs from source_rows
where source = ? and is_live = 1
`
const LIST_ROWS = `${LIVE_ROWS} and key > ? and key <= ?`
const FIND_ROW = `${LIVE_ROWS} and key = ?`
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
export const listHeldRows = (db: Mirror, source: number, after: string, last: string): HeldRow[] =>
  prepared<HeldRow>(db, LIST_ROWS).all(source, after, last)

export const findHeldRow = (db: Mirror, source: number, key: string): HeldRow | undefined =>
  prepared<HeldRow>(db, FIND_ROW).get(source, key)

/** Whether the source once held this row and no longer does. */
export const isGoneRow = (db: Mirror, source: number, key: string): boolean =>
  prepared(db, WAS_ROW).get(source, key) !== undefined

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

export const countHeldRows = (db: Mirror, source: number): number =>
  prepared<number>(db, COUNT_ROWS).pluck().get(source) ?? 0

const RECENT_CHATS = `
select id from chats where source = ? and last_activity_at > ? order by last_activity_at desc limit ?
`

/** Chats of this source with activity since this time, newest first. */
export const listRecentChats = (db: Mirror, source: number, sinceMs: number, limit: number): ChatId[] =>
  prepared<ChatId>(db, RECENT_CHATS).pluck().all(source, sinceMs, limit)

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

export const countBadKeys = (db: Mirror, source: number): number =>
  prepared<number>(db, COUNT_BAD_KEYS).pluck().get(source) ?? 0

const HAS_MESSAGES = `
select 1 from messages join chats on chats.num = chat where chats.id = ? and messages.source = ? and messages.is_live = 1
limit 1
`

/** Whether the source, when it was last read, had a message of the chat. */
export const hasMessages = (db: Mirror, source: number, chatId: ChatId): boolean =>
  prepared(db, HAS_MESSAGES).get(chatId, source) !== undefined

const LIST_ROLES = `select messages.id, role from messages join chats on chats.num = chat where chats.id = ?`

export const listRoles = (db: Mirror, chatId: ChatId): Map<MessageId, Role> =>
  new Map(prepared<[MessageId, Role]>(db, LIST_ROLES).raw().all(chatId))

/** Replaces the rowid of rows that an older decoder read. It differs from every real rowid, so the row is read again. */
export const OUTDATED_ROWID = -1

const READ_DECODER = `select decoder from sources where num = ?`
const OUTDATE = [
  `update sources set decoder = @version, signature = null, watermark = null, watermark_key = null where num = @source`,
  `update source_rows set source_rowid = ${OUTDATED_ROWID}, checksum = null where source = @source and is_live = 1`,
  `delete from sweeps where source = @source`,
]

/**
 * Saves the version of the decoder that reads the source from now on. If another version read it before, all its rows
 * count as changed, and passes read them again, even if passes are interrupted.
 * @returns whether the version changed
 */
export function noteDecoder(db: Mirror, source: number, version: number): boolean {
  if (prepared(db, READ_DECODER).pluck().get(source) === version) return false
  db.transaction(() => OUTDATE.forEach((sql) => prepared(db, sql).run({ source, version })))()
  return true
}

/** The kind of sources for restored data: one for each mirror whose archives were restored. They have no live rows. */
export const ARCHIVE = 'archive'

/** The kind of sources for chats of other machines, one for each kind of store that they were read from. */
export const HUB = 'hub'

const LIST_RANKS = `select num, rank, kind in ('${ARCHIVE}', '${HUB}') as isArchive from sources`

/** Precedence of sources that hold the same chat: the lowest rank first, then the source that was added first. */
export class SourceRanks {
  readonly #sources: ReadonlyMap<number, { readonly rank: number; readonly isArchive: number }>

  constructor(db: Mirror) {
    const rows = prepared<{ num: number; rank: number; isArchive: number }>(db, LIST_RANKS).all()
    this.#sources = new Map(rows.map((row) => [row.num, row]))
  }

  of(source: number): number {
    return this.#sources.get(source)?.rank ?? Number.MAX_SAFE_INTEGER
  }

  /** Whether what it says was noted elsewhere: in an archive, or by another machine. */
  isArchive(source: number): boolean {
    return this.#sources.get(source)?.isArchive === 1
  }

  /** The better source first. */
  compare(a: number, b: number): number {
    return this.of(a) - this.of(b) || a - b
  }

  best(sources: readonly number[]): number | null {
    return sources.toSorted((a, b) => this.compare(a, b))[0] ?? null
  }
}

const NOTE = `update source_rows set missed_at = ? where source = ? and key = ? and is_live = 1`

/**
 * Marks rows that vanished together with too many others: it may be an accident. They still count as held for now.
 * @param atMs null if the rows are back
 */
export function markMissed(db: Mirror, source: number, keys: readonly string[], atMs: number | null): void {
  if (keys.length === 0) return
  db.transaction(() => {
    for (const key of keys) prepared(db, NOTE).run(atMs, source, key)
  })()
}

const SUM_UP = `
select count(*) as rows, min(missed_at) as sinceMs from source_rows where source = ? and missed_at is not null
`

export const countMissed = (db: Mirror, source: number): number => prepared<number>(db, SUM_UP).pluck().get(source) ?? 0

/**
 * The rows of a source that are missed, of all that it held, and when the first of them was missed, in epoch milliseconds.
 * They do not count as deleted until a later pass confirms it.
 */
export function readMissed(
  db: Mirror,
  source: number,
): { readonly rows: number; readonly of: number; readonly sinceMs: number } | null {
  const { rows, sinceMs } = prepared<{ rows: number; sinceMs: number }>(db, SUM_UP).get(source) ?? {
    rows: 0,
    sinceMs: 0,
  }
  return rows === 0 ? null : { rows, of: countHeldRows(db, source), sinceMs }
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
insert or replace into sweeps (source, verified_signature, signature, after_rowid, started_at, ended_at)
values (@source, @verifiedSignature, @signature, @afterRowid, @startedAtMs, @endedAtMs)
`

const noSweep: Sweep = { verifiedSignature: null, signature: null, afterRowid: 0, startedAtMs: 0, endedAtMs: null }

export const readSweep = (db: Mirror, source: number): Sweep => prepared<Sweep>(db, READ).get(source) ?? noSweep

export const saveSweep = (db: Mirror, source: number, sweep: Sweep): void =>
  void prepared(db, SAVE).run({ source, ...sweep })

const LIST_READ = `
select id, state, signature, decoder, watermark, counted_at as countedAtMs,
  exists (select 1 from source_rows where source = num and missed_at is not null) as hasMissed
from sources where kind not in ('', '${ARCHIVE}', '${HUB}')
`

/** How a source was when it was last read. */
export interface ReadSource {
  readonly id: SourceId
  readonly state: SourceState
  readonly signature: string | null
  readonly decoder: number
  readonly watermark: number | null
  readonly countedAtMs: number | null
  /** 1 if some of its rows vanished, and do not count as deleted yet. */
  readonly hasMissed: number
}

/** The sources that are looked for, as they were when they were last read. */
export const listRead = (db: Mirror): ReadSource[] => prepared<ReadSource>(db, LIST_READ).all()

interface Known extends Pick<SourceName, 'id' | 'kind' | 'path'> {
  readonly num: number
  /** Epoch milliseconds; null if no pass succeeded yet. */
  readonly lastSyncAt: number | null
  readonly state: SourceState
  readonly hasRows: number
}

const LIST_KNOWN = `
select num, id, kind, path, last_sync_at as lastSyncAt, state,
  exists (select 1 from source_rows where source = num) as hasRows
from sources where kind not in ('', '${ARCHIVE}', '${HUB}')
`
const MISS = `update sources set state = 'missing', detail = null where num = ?`
const FORGET = `delete from sources where num = ?`

/**
 * Looks at the sources that the mirror knows and that are not looked for any more. Those that were never read are deleted,
 * for example those of a misspelled folder. Those whose file is gone are marked as missing.
 * @param isGone whether nothing exists at a path; false if it must not be read
 */
export function followSources(
  db: Mirror,
  current: ReadonlyMap<SourceId, SourceName>,
  isGone: (path: string) => boolean,
): void {
  for (const { num, id, path, state, lastSyncAt, hasRows } of prepared<Known>(db, LIST_KNOWN).all()) {
    if (current.has(id)) continue
    if (state !== 'ok' && lastSyncAt === null && hasRows === 0) forget(db, num)
    else if (state !== 'missing' && isGone(path)) prepared(db, MISS).run(num)
  }
}

function forget(db: Mirror, num: number): void {
  try {
    prepared(db, FORGET).run(num)
  } catch (error) {
    // Other rows refer to the source, so it was in use after all.
    if (!(error instanceof Error && 'code' in error && error.code === 'SQLITE_CONSTRAINT_FOREIGNKEY')) throw error
  }
}
