import type { Mirror } from '../../../mirror/open.ts'
import { readMissed } from '../../../mirror/sources/sources.ts'
import { prepared } from '../../../mirror/sql.ts'
import type { SourceId } from '../../../model/ids.ts'
import type { SourceState } from '../../../model/source.ts'
import { answerRow, type Row } from '../answer-row.ts'
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
    /** From the ledger of losses: chats of this store that were deleted completely. */
    readonly lost: number
  }
  readonly messages: {
    readonly held: number
    readonly orphans: number
    /** From the ledger of losses: messages of this store that Cursor deleted and the mirror still has. */
    readonly keptHere: number
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
  }
}

const FIND_SOURCE = `
  select num, state, detail, last_sync_at as lastSyncAt, total_rows as total, null_keys as nullKeys
  from sources where id = ?
`
const COUNTS = `
  select
    count(*) filter (where is_orphan = 0) as held, count(*) filter (where is_orphan = 1) as orphans,
    (
      select count(*) from chats where source = @num or num in (
        select chat from outlines where source = @num union select chat from messages where source = @num
      )
    ) as chats,
    (select count(*) from source_rows where source = @num and is_live = 1) as live,
    (
      select count(*) from row_issues i join source_rows r on r.source = i.source and r.key = i.key
      where i.source = @num and r.is_live = 1
    ) as liveIssues
  from messages where source = @num
`
const ISSUES = `
  select reason, count(*) as count, min(key) as example from row_issues where source = ? group by reason order by reason
`

type Source = Pick<SourceFindings, 'state' | 'detail' | 'lastSyncAt'> &
  Readonly<Record<'num' | 'total' | 'nullKeys', number>>
type Counts = Readonly<Record<'held' | 'orphans' | 'chats' | 'live' | 'liveIssues', number>>

/** @returns null for a store that was never read */
export function examineSource(db: Mirror, id: SourceId): SourceFindings | null {
  return inSnapshot(db, () => {
    const row = prepared<Row>(db, FIND_SOURCE).get(id)
    if (row === undefined) return null
    const { num, total, nullKeys, ...state } = answerRow<Source>(row)
    const counts = prepared<Counts>(db, COUNTS).get({ num })
    if (counts === undefined) throw new Error('An aggregate gave no row.')
    const { held, orphans, chats, ...rows } = counts
    const lost = sumLossesOf(db, num)
    const missed = readMissed(db, num)
    // Rows without a key cannot be recorded one by one. They are only counted.
    const keyless = nullKeys === 0 ? [] : [{ reason: 'null-key', count: nullKeys, example: null }]
    return {
      ...state,
      chats: { total: chats, lost: lost.chats },
      messages: { held, orphans, keptHere: lost.messages },
      issues: [...prepared<ReasonCount>(db, ISSUES).all(num), ...keyless],
      pendingLoss: missed === null ? null : { rows: missed.rows, of: missed.of },
      rows: { total, ...rows },
    }
  })
}
