import type { Mirror } from '../open.ts'
import { asking, counting, finding, findingValue, listing, listingValues, prepared, writing } from '../sql.ts'
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

const addSource = writing<[SourceName]>(`
insert into sources (id, kind, path, rank, state) values (@id, @kind, @path, @rank, 'missing')
on conflict (id) do update set kind = excluded.kind, path = excluded.path, rank = excluded.rank
  where kind = '' or rank <> excluded.rank
`)
const numOf = findingValue<[id: SourceId], number>(`select num from sources where id = ?`)

/** The number of this source in other tables. Adds the source if it is new, and completes it if only its id was salvaged. */
export function sourceNum(db: Mirror, { id, kind, path, rank }: SourceName): number {
  addSource(db, { id, kind, path, rank })
  return Number(numOf(db, id))
}

const findId = findingValue<[source: number], SourceId>(`select id from sources where num = ?`)

/** The id of a source, from which ids of messages without an id are made. */
export const sourceIdOf = (db: Mirror, source: number): SourceId => String(findId(db, source)) as SourceId

/** The number of the source with this kind and path; null before its first pass. */
export const findSource = findingValue<[kind: string, path: string], number>(
  `select num from sources where kind = ? and path = ?`,
)

/** `identity` is null before the first pass. `countedAtMs` is when the rows were last compared by count with the source. */
export interface HeldPosition extends Omit<Position, 'identity'> {
  readonly identity: string | null
  readonly countedAtMs: number | null
}

const findPosition = finding<[source: number], HeldPosition>(`
select identity, signature, watermark, watermark_key as watermarkKey, counted_at as countedAtMs
from sources where num = ?
`)

export function readPosition(db: Mirror, source: number): HeldPosition {
  const row = findPosition(db, source)
  if (row === undefined) throw new Error(`there is no source ${source}`)
  return row
}

interface SourceEnd {
  readonly num: number
  readonly state: SourceState
  readonly detail: string | null
  /** When a pass succeeded, in epoch milliseconds; null keeps the former time. */
  readonly syncedAtMs: number | null
}

export const saveSourceState = writing<[SourceEnd]>(`
update sources set state = @state, detail = @detail, last_sync_at = coalesce(@syncedAtMs, last_sync_at) where num = @num
`)

interface SourceCounts {
  readonly num: number
  readonly totalRows: number
  readonly nullKeys: number
  readonly nowMs: number
}

export const saveCounts = writing<[SourceCounts]>(
  `update sources set total_rows = @totalRows, null_keys = @nullKeys, counted_at = @nowMs where num = @num`,
)

const LIVE_ROWS = `
select key, source_rowid as rowid, octets, checksum, missed_at as missedAtMs from source_rows
where source = ? and is_live = 1
`

export interface HeldRow {
  readonly key: string
  readonly rowid: number
  readonly octets: number
  readonly checksum: number | null
  /** Since when the row is missing, while the loss is not confirmed yet; see `missed-rows.ts`. */
  readonly missedAtMs: number | null
}

/** Rows that the source held at the last pass, with `after < key <= last`. */
export const listHeldRows = listing<[source: number, after: string, last: string], HeldRow>(
  `${LIVE_ROWS} and key > ? and key <= ?`,
)

export const findHeldRow = finding<[source: number, key: string], HeldRow>(`${LIVE_ROWS} and key = ?`)

/** Whether the source once held this row and no longer does. */
export const isGoneRow = asking<[source: number, key: string]>(
  `select 1 from source_rows where source = ? and key = ? and is_live = 0`,
)

/** The keys of rows that could not be read. */
export const listIssueKeys = listingValues<[source: number], string>(`select key from row_issues where source = ?`)

/** Whether the mirror knows this row: it is held, was held, or could not be read. */
export const isRowKnown = asking<[{ readonly source: number; readonly key: string }]>(`
select 1 from source_rows where source = @source and key = @key
union all select 1 from row_issues where source = @source and key = @key
`)

export const countHeldRows = counting<[source: number]>(
  `select count(*) from source_rows where source = ? and is_live = 1`,
)

/** Chats of this source with activity since this time, newest first. */
export const listRecentChats = listingValues<[source: number, sinceMs: number, limit: number], ChatId>(
  `select id from chats where source = ? and last_activity_at > ? order by last_activity_at desc limit ?`,
)

const dropBadKeys = writing<[source: number]>(`delete from row_issues where source = ? and reason = 'bad-key'`)
const addBadKey = writing<[source: number, key: string, nowMs: number]>(`
insert into row_issues (source, key, reason, octets, noted_at) values (?, ?, 'bad-key', null, ?) on conflict do nothing
`)

/** Replaces the list of rows whose key has a chat's prefix but names no chat. Each walk over all keys makes a new list. */
export function replaceBadKeys(db: Mirror, source: number, names: readonly string[], nowMs: number): void {
  db.transaction(() => {
    dropBadKeys(db, source)
    for (const name of names) addBadKey(db, source, name, nowMs)
  })()
}

export const countBadKeys = counting<[source: number]>(
  `select count(*) from row_issues where source = ? and reason = 'bad-key'`,
)

/** Whether the source, when it was last read, had a message of the chat. */
export const hasMessages = asking<[source: number, chatId: ChatId]>(`
select 1 from messages join chats on chats.num = chat where messages.source = ? and chats.id = ? and messages.is_live = 1
limit 1
`)

const idsAndRoles = listing<[ChatId], { readonly id: MessageId; readonly role: Role }>(
  `select messages.id, role from messages join chats on chats.num = chat where chats.id = ?`,
)

export const listRoles = (db: Mirror, chatId: ChatId): Map<MessageId, Role> =>
  new Map(idsAndRoles(db, chatId).map(({ id, role }) => [id, role]))

/** Replaces the rowid of rows that an older decoder read. It differs from every real rowid, so the row is read again. */
export const OUTDATED_ROWID = -1

const decoderOf = findingValue<[source: number], number>(`select decoder from sources where num = ?`)
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
  if (decoderOf(db, source) === version) return false
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

const noteMissed = writing<[atMs: number | null, source: number, key: string]>(
  `update source_rows set missed_at = ? where source = ? and key = ? and is_live = 1`,
)

/**
 * Marks rows that vanished together with too many others: it may be an accident. They still count as held for now.
 * @param atMs null if the rows are back
 */
export function markMissed(db: Mirror, source: number, keys: readonly string[], atMs: number | null): void {
  if (keys.length === 0) return
  db.transaction(() => {
    for (const key of keys) noteMissed(db, atMs, source, key)
  })()
}

/** How many rows of a source are missed. They do not count as deleted until a later pass confirms it. */
export const countMissed = counting<[source: number]>(
  `select count(*) from source_rows where source = ? and missed_at is not null`,
)

interface Missed {
  readonly rows: number
  /** All that the source held. */
  readonly of: number
  /** When the first of them was missed, in epoch milliseconds. */
  readonly sinceMs: number
}

/** Undefined if no row is missed. */
export const readMissed = finding<[{ readonly source: number }], Missed>(`
select count(*) as rows, (select count(*) from source_rows where source = @source and is_live = 1) as "of",
  min(missed_at) as sinceMs
from source_rows where source = @source and missed_at is not null having count(*) > 0
`)

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

const findSweep = finding<[source: number], Sweep>(`
select verified_signature as verifiedSignature, signature, after_rowid as afterRowid, started_at as startedAtMs,
  ended_at as endedAtMs
from sweeps where source = ?
`)
const noSweep: Sweep = { verifiedSignature: null, signature: null, afterRowid: 0, startedAtMs: 0, endedAtMs: null }

export const readSweep = (db: Mirror, source: number): Sweep => findSweep(db, source) ?? noSweep

export const saveSweep = writing<[Sweep & { readonly source: number }]>(`
insert or replace into sweeps (source, verified_signature, signature, after_rowid, started_at, ended_at)
values (@source, @verifiedSignature, @signature, @afterRowid, @startedAtMs, @endedAtMs)
`)

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
export const listRead = listing<[], ReadSource>(`
select id, state, signature, decoder, watermark, counted_at as countedAtMs,
  exists (select 1 from source_rows where source = num and missed_at is not null) as hasMissed
from sources where kind not in ('', '${ARCHIVE}', '${HUB}')
`)

interface Known extends Pick<SourceName, 'id' | 'kind' | 'path'> {
  readonly num: number
  /** Epoch milliseconds; null if no pass succeeded yet. */
  readonly lastSyncAt: number | null
  readonly state: SourceState
  readonly hasRows: number
}

const listKnown = listing<[], Known>(`
select num, id, kind, path, last_sync_at as lastSyncAt, state,
  exists (select 1 from source_rows where source = num) as hasRows
from sources where kind not in ('', '${ARCHIVE}', '${HUB}')
`)
const miss = writing<[num: number]>(`update sources set state = 'missing', detail = null where num = ?`)
const forget = writing<[num: number]>(`delete from sources where num = ?`)

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
  for (const { num, id, path, state, lastSyncAt, hasRows } of listKnown(db)) {
    if (current.has(id)) continue
    if (state !== 'ok' && lastSyncAt === null && hasRows === 0) forgetUnused(db, num)
    else if (state !== 'missing' && isGone(path)) miss(db, num)
  }
}

function forgetUnused(db: Mirror, num: number): void {
  try {
    forget(db, num)
  } catch (error) {
    // Other rows refer to the source, so it was in use after all.
    if (!(error instanceof Error && 'code' in error && error.code === 'SQLITE_CONSTRAINT_FOREIGNKEY')) throw error
  }
}
