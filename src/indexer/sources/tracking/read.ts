import type Database from 'better-sqlite3'
import { tryRead } from '../../open-safely/read-portion.ts'
import { prepared } from '../../../mirror/prepared.ts'

/**
 * The tables and columns that are read, by their exact names. The file also holds code, whole contents of files and
 * summaries of chats: no query here names those, and none reads a row whole.
 */
export const HASHES = 'ai_code_hashes'
export const COMMITS = 'scored_commits'
const columnsOf = {
  [HASHES]: ['conversationId', 'timestamp', 'createdAt', 'model', 'source'],
  [COMMITS]: ['commitHash', 'composerLinesAdded', 'composerLinesDeleted'],
} as const
export type TrackingTable = keyof typeof columnsOf
export const trackingTables: readonly TrackingTable[] = [HASHES, COMMITS]

/** Longer than any id, model or time; what is longer is left where it is. */
const OCTETS_MAX = 200
const PAGE_ROWS = 500

/** Pages are asked for by rowid: a table without is none that is known. */
const IS_TABLE = `
select 1 from sqlite_master where type = 'table' and name = ? and sql not like '%without%rowid%'
`
const LIST_COLUMNS = `select name from pragma_table_info(?)`

/** Of each table that is there, the query for a page of it. Which columns there are differs by version. */
export type Layout = ReadonlyMap<TrackingTable, string>

export function findLayout(db: Database.Database): Layout {
  const tables = trackingTables.filter((table) => prepared(db, IS_TABLE).get(table) !== undefined)
  return new Map(tables.map((table) => [table, pageOf(table, listColumns(db, table))]))
}

/** SQLite does not tell the case of names apart. */
const listColumns = (db: Database.Database, table: string): ReadonlySet<string> =>
  new Set(
    prepared<{ name: string }>(db, LIST_COLUMNS)
      .all(table)
      .map(({ name }) => name.toLowerCase()),
  )

function pageOf(table: TrackingTable, there: ReadonlySet<string>): string {
  const names = columnsOf[table].map((name) =>
    there.has(name.toLowerCase())
      ? `case when octet_length(${name}) <= ${OCTETS_MAX} then ${name} end as ${name}, ${name} is not null as has_${name}`
      : `null as ${name}, 0 as has_${name}`,
  )
  // A rowid above 2^53 would not come back as the number that it is.
  return `
    select rowid, ${names.join(', ')} from ${table}
    where rowid > ? and rowid < ${Number.MAX_SAFE_INTEGER} order by rowid limit ${PAGE_ROWS}
  `
}

/** Nothing is known of what stands in a column. Null where the column is missing, NULL, or holds too much. */
export type TrackingRow = Readonly<Record<string, unknown>> & { readonly rowid: number }

export interface Page {
  readonly rows: readonly TrackingRow[]
  readonly isMore: boolean
  readonly isDamaged: boolean
}

/** Rows behind `after`, at least one of those that are left. Ends early when the time is up. @param forMs milliseconds */
export function readPage(db: Database.Database, query: string, after: number, forMs: number): Page {
  const untilMs = performance.now() + forMs
  const rows: TrackingRow[] = []
  const isCut = tryRead(() => {
    for (const row of prepared<TrackingRow>(db, query).iterate(BigInt(after))) {
      rows.push(row)
      if (performance.now() > untilMs) return true
    }
    return false
  })
  const isMore = isCut !== null && (isCut.value || rows.length === PAGE_ROWS)
  return { rows, isMore, isDamaged: isCut === null }
}
