import { HUB } from '../../../mirror/sources/sources.ts'
import type { Mirror } from '../../../mirror/open.ts'
import type { SourceStatus } from '../../answers/status.ts'
import { answerRow, type Row } from '../answer-row.ts'

const SOURCES = `
  select id, kind, path, state, detail, last_sync_at as lastSyncAt, total_rows as rows
  from sources
  where kind <> '${HUB}'
  order by rank, kind, path
`

/** All stores that were ever read, by rank: the best sources of chats first. */
export const listSources = (db: Mirror): SourceStatus[] =>
  db
    .prepare<[], Row>(SOURCES)
    .all()
    .map((row) => answerRow<SourceStatus>(row))
