import type { Mirror } from '../../../mirror/open.ts'
import { readMissed } from '../../../mirror/sources/sources.ts'
import { prepared } from '../../../mirror/sql.ts'
import type { SourceId } from '../../../model/ids.ts'
import type { SourceState } from '../../../model/source.ts'
import { toIso } from '../../iso.ts'
import { sumLossesOf } from './list-losses.ts'
import { inSnapshot } from '../snapshot.ts'

export interface ReasonCount {
  readonly reason: string
  readonly count: number
  /** The key of one such row; null if the rows have no key. */
  readonly example: string | null
}

/** The state of one store's chats and rows when it was last read. */
export interface SourceFindings {
  readonly state: SourceState
  readonly detail: string | null
  readonly lastSyncAt: string | null
  readonly chats: {
    readonly total: number
    /** The mirror has every message in Cursor's list of the chat. */
    readonly whole: number
    /** The list has a message without a row. */
    readonly incomplete: number
    /** No messages in the list and none in the mirror: drafts, and chats that were never used. */
    readonly empty: number
    /** From the ledger of losses: chats of this store that were deleted completely. */
    readonly lost: number
  }
  readonly messages: {
    readonly held: number
    /** How many messages Cursor's lists have. */
    readonly named: number
    /** Listed, but without a row: lost before they were mirrored. */
    readonly gone: number
    /** Listed, but their row has nothing to show. */
    readonly blank: number
    /** Listed, but their row could not be read. */
    readonly unreadable: number
    /** From the ledger of losses: messages of this store that Cursor deleted and the mirror still has. */
    readonly keptHere: number
    readonly orphans: number
  }
  readonly issues: readonly ReasonCount[]
  /** Rows that disappeared all at once. They count as present until a second check. Null if there are none. */
  readonly pendingLoss: { readonly rows: number; readonly of: number } | null
  readonly rows: {
    /** All rows at the last count. */
    readonly total: number
    /** Rows that are mirrored and still exist. */
    readonly live: number
    readonly liveIssues: number
    readonly issues: number
    readonly orphans: number
  }
}

interface SourceRow {
  readonly kind: string
  readonly num: number
  readonly state: SourceState
  readonly detail: string | null
  readonly lastSyncAtMs: number | null
  readonly totalRows: number
  readonly nullKeys: number
}

const FIND_SOURCE = `
select num, kind, state, detail, last_sync_at as lastSyncAtMs, total_rows as totalRows, null_keys as nullKeys
from sources where id = ?
`

/** @returns null for a store that was never read */
export function examineSource(db: Mirror, id: SourceId): SourceFindings | null {
  return inSnapshot(db, () => {
    const source = prepared<SourceRow>(db, FIND_SOURCE).get(id)
    if (source === undefined) return null
    const { state, detail, lastSyncAtMs, num, kind, totalRows, nullKeys } = source
    const issues = listIssues(db, num, nullKeys)
    const counts = countOf(db, num)
    const missed = readMissed(db, num)
    return {
      state,
      detail,
      lastSyncAt: toIso(lastSyncAtMs),
      ...examineChats(db, { num, kind }, counts),
      issues,
      pendingLoss: missed === null ? null : { rows: missed.rows, of: missed.of },
      rows: {
        total: totalRows,
        live: counts.live,
        liveIssues: counts.liveIssues,
        issues: issues.reduce((sum, { count }) => sum + count, 0),
        orphans: counts.orphanRows,
      },
    }
  })
}

interface Counts {
  readonly held: number
  readonly orphans: number
  /** Orphans with their own row, which still exists in the store. */
  readonly orphanRows: number
  readonly live: number
  readonly liveIssues: number
}

const COUNT = `
select
  count(*) filter (where is_orphan = 0) as held,
  count(*) filter (where is_orphan = 1) as orphans,
  count(*) filter (where is_orphan = 1 and is_live = 1 and is_embedded = 0) as orphanRows,
  (select count(*) from source_rows where source = @source and is_live = 1) as live,
  (
    select count(*) from row_issues i join source_rows r on r.source = i.source and r.key = i.key
    where i.source = @source and r.is_live = 1
  ) as liveIssues
from messages where source = @source
`

function countOf(db: Mirror, num: number): Counts {
  const counts = prepared<Counts>(db, COUNT).get({ source: num })
  if (counts === undefined) throw new Error('An aggregate gave no row.')
  return counts
}

const LIST_ISSUES = `
select reason, count(*) as count, min(key) as example from row_issues where source = ? group by reason order by reason
`

/** Rows without a key cannot be recorded one by one. They are only counted. */
function listIssues(db: Mirror, num: number, nullKeys: number): ReasonCount[] {
  const issues = prepared<ReasonCount>(db, LIST_ISSUES).all(num)
  return nullKeys === 0 ? issues : [...issues, { reason: 'null-key', count: nullKeys, example: null }]
}

const LIST_CHATS = `
select chats.num, chats.id, chats.format, entries
from chats left join outlines on outlines.chat = chats.num and outlines.source = @source
where chats.num in (select chat from outlines where source = @source union select chat from messages where source = @source)
  or chats.source = @source
`
const LIST_IDS = `select id, alias from messages where chat = ?`

interface ChatRow {
  readonly num: number
  readonly id: string
  readonly format: string
  readonly entries: string | null
}

/** In these stores, and in these formats of the global store, a chat is one value or file. */
const WHOLE_STORES: ReadonlySet<string> = new Set(['transcripts', 'workspace-items', 'global-items'])
const WHOLE_FORMATS: ReadonlySet<string> = new Set(['inline', 'map'])

interface Examined {
  readonly named: number
  readonly held: number
  readonly absent: readonly string[]
}

/** An outline may be missing: then the messages are ordered by time and none is absent. Its entries may lack an id. */
function examineChat(db: Mirror, { num, entries }: ChatRow): Examined {
  const outline = JSON.parse(entries ?? 'null') as readonly { readonly id: string | null }[] | null
  const named = new Set((outline ?? []).flatMap(({ id }) => id ?? []))
  const held = prepared<{ id: string; alias: string | null }>(db, LIST_IDS).all(num)
  const known = new Set(held.flatMap(({ id, alias }) => (alias === null ? [id] : [id, alias])))
  return { named: named.size, held: held.length, absent: [...named].filter((id) => !known.has(id)) }
}

function examineChats(
  db: Mirror,
  { num, kind: storeKind }: Pick<SourceRow, 'num' | 'kind'>,
  counts: Counts,
): Pick<SourceFindings, 'chats' | 'messages'> {
  const chats = prepared<ChatRow>(db, LIST_CHATS).all({ source: num })
  const examined = chats.map((chat) => ({ ...chat, ...examineChat(db, chat) }))
  const absentNames = new Set(examined.flatMap(({ id, absent }) => absent.map((each) => `${id}:${each}`)))
  const rows = findRows(db, num, absentNames)
  const tally = { incomplete: 0, empty: 0, named: 0, gone: 0, blank: 0, unreadable: 0 }
  for (const { id, format, named, held, absent } of examined) {
    const isWhole = WHOLE_STORES.has(storeKind) || WHOLE_FORMATS.has(format)
    const other = isWhole && absent.length > 0 ? kindInValue(db, num, id) : 'gone'
    const found = absent.map((each) => rows.get(`${id}:${each}`) ?? other)
    const count = (kind: RowKind) => found.filter((each) => each === kind).length
    tally.named += named
    tally.gone += count('gone')
    tally.blank += count('blank')
    tally.unreadable += count('unreadable')
    if (named === 0 && held === 0) tally.empty += 1
    else if (count('gone') + count('unreadable') > 0) tally.incomplete += 1
  }
  const { incomplete, empty, named, gone, blank, unreadable } = tally
  const { held, orphans } = counts
  const lost = sumLossesOf(db, num)
  return {
    chats: { total: chats.length, whole: chats.length - incomplete - empty, incomplete, empty, lost: lost.chats },
    messages: { held, named, gone, blank, unreadable, keptHere: lost.messages, orphans },
  }
}

type RowKind = 'gone' | 'blank' | 'unreadable'

const HAS_ISSUE = `select 1 from row_issues where source = ? and instr(key, ?) > 0 limit 1`

/** If a chat is one value, an absent message is either blank or unreadable. */
const kindInValue = (db: Mirror, num: number, chatId: string): RowKind =>
  prepared(db, HAS_ISSUE).get(num, chatId) === undefined ? 'blank' : 'unreadable'

const LIST_LIVE = `
select r.key, r.octets, i.reason
from source_rows r left join row_issues i on i.source = r.source and i.key = r.key
where r.source = ? and r.is_live = 1
`

interface LiveRow {
  readonly key: string
  readonly octets: number
  readonly reason: string | null
}

/**
 * Looks for rows of messages that are listed but not in the mirror. A row's key ends with the ids of chat and message
 * after its first colon. A row without a value means that Cursor deleted the message.
 */
function findRows(db: Mirror, num: number, absent: ReadonlySet<string>): ReadonlyMap<string, RowKind> {
  const found = new Map<string, RowKind>()
  if (absent.size === 0) return found
  for (const { key, octets, reason } of prepared<LiveRow>(db, LIST_LIVE).iterate(num)) {
    const name = key.slice(key.indexOf(':') + 1)
    if (!absent.has(name)) continue
    found.set(name, reason !== null ? 'unreadable' : octets === 0 ? 'gone' : 'blank')
  }
  return found
}
