import type { SourceState } from '../../../model/source.ts'
import { asSourceId } from '../../../model/ids.ts'
import { HUB } from '../../../mirror/sources/sources.ts'
import type { Mirror } from '../../../mirror/open.ts'
import { toIso } from '../../iso.ts'
import type { SourceStatus } from '../../answers/status.ts'

interface SourceRow {
  readonly id: string
  readonly kind: string
  readonly path: string
  readonly state: string
  readonly detail: string | null
  readonly lastSyncAtMs: number | null
  readonly rows: number
}

const SOURCES = `
  select id, kind, path, state, detail, last_sync_at as lastSyncAtMs, total_rows as rows
  from sources
  where kind <> '${HUB}'
  order by rank, kind, path
`

/** All stores that were ever read, by rank: the best sources of chats first. */
export function listSources(db: Mirror): SourceStatus[] {
  const rows = db.prepare<[], SourceRow>(SOURCES).all()
  return rows.map((row) => ({
    id: asSourceId(row.id),
    kind: row.kind,
    path: row.path,
    state: row.state as SourceState,
    detail: row.detail,
    lastSyncAt: toIso(row.lastSyncAtMs),
    rows: row.rows,
  }))
}
