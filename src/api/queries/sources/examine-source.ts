import type { Mirror } from '../../../mirror/open.ts'
import { readMissed } from '../../../mirror/sources/missed-rows.ts'
import { prepared } from '../../../mirror/prepared.ts'
import type { SourceId } from '../../../model/ids.ts'
import type { SourceState } from '../../../model/source.ts'
import { toIso } from '../../iso.ts'
import { sumLossesOf } from './list-losses.ts'
import { inSnapshot } from '../snapshot.ts'

export interface ReasonCount {
  readonly reason: string
  readonly count: number
  /** The key of one such row; null where the rows have none. */
  readonly example: string | null
}

/** What became of one store's chats and rows, as of the last time it was read. */
export interface SourceFindings {
  readonly state: SourceState
  readonly detail: string | null
  readonly lastSyncAt: string | null
  readonly chats: {
    readonly total: number
    /** Every message that Cursor's list of the chat names is held. */
    readonly whole: number
    /** The list names a message that no row holds any more. */
    readonly incomplete: number
    /** Neither named nor held: drafts, and chats never used. */
    readonly empty: number
    /** Of the ledger of losses, the chats that went whole and that this store told. */
    readonly lost: number
  }
  readonly messages: {
    readonly held: number
    /** How many Cursor's lists name. */
    readonly named: number
    /** Named, and held by no row: lost before they were ever mirrored. */
    readonly gone: number
    /** Named, and their row holds nothing to show. */
    readonly blank: number
    /** Named, and their row could not be read. */
    readonly unreadable: number
    /** Of the ledger of losses, the messages of this store: dropped by Cursor, and kept by the mirror. */
    readonly keptHere: number
    readonly orphans: number
  }
  readonly issues: readonly ReasonCount[]
  /** Rows that vanished at once, and count as held until a second look; null where there are none. */
  readonly pendingLoss: { readonly rows: number; readonly of: number } | null
  readonly rows: {
    /** All there were when they were last counted. */
    readonly total: number
    /** Followed and held now. */
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
  /** Orphans that have a row of their own, which the store still holds. */
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

/** Rows without a key have nothing to be recorded under, and are only counted. */
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

/** In these stores, and in these formats of the global one, a chat lies whole in one value or file. */
const WHOLE_STORES: ReadonlySet<string> = new Set(['transcripts', 'workspace-items', 'global-items'])
const WHOLE_FORMATS: ReadonlySet<string> = new Set(['inline', 'map'])

interface Examined {
  readonly named: number
  readonly held: number
  readonly absent: readonly string[]
}

/** An outline may have an entry without an id, and may be none at all: then the rows stand by time, and all are held. */
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

/** Where a chat is one value, a place without a message holds nothing to show, or could not be read. */
const kindInValue = (db: Mirror, num: number, chatId: string): RowKind =>
  prepared(db, HAS_ISSUE).get(num, chatId) === undefined ? 'blank' : 'unreadable'

const LIST_LIVE = `
select r.key, i.reason
from source_rows r left join row_issues i on i.source = r.source and i.key = r.key
where r.source = ? and r.is_live = 1
`

/**
 * Of messages that are named and not held: whether a row is there all the same. A row's key ends in its chat and its
 * message, whatever stands before. A row without a value says that Cursor dropped the message.
 */
function findRows(db: Mirror, num: number, absent: ReadonlySet<string>): ReadonlyMap<string, RowKind> {
  const found = new Map<string, RowKind>()
  if (absent.size === 0) return found
  for (const { key, reason } of prepared<{ key: string; reason: string | null }>(db, LIST_LIVE).iterate(num)) {
    const name = key.slice(key.indexOf(':') + 1)
    if (!absent.has(name)) continue
    found.set(name, reason === null ? 'blank' : reason === 'null-value' ? 'gone' : 'unreadable')
  }
  return found
}
