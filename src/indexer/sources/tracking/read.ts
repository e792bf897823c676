import type Database from 'better-sqlite3'
import { tryRead } from '../../open-safely/read-portion.ts'
import { prepared } from '../../../mirror/prepared.ts'

/**
 * The tables and columns that are read, by exact name. The file also contains code, whole files and summaries of chats:
 * no query here names those, and none reads all columns.
 */
export const HASHES = 'ai_code_hashes'
export const COMMITS = 'scored_commits'
const columnsOf = {
  [HASHES]: ['conversationId', 'timestamp', 'createdAt', 'model', 'source'],
  [COMMITS]: ['commitHash', 'composerLinesAdded', 'composerLinesDeleted'],
} as const
export type TrackingTable = keyof typeof columnsOf
export const trackingTables: readonly TrackingTable[] = [HASHES, COMMITS]

/** Longer than any id, model or time; a longer value is not read. */
const OCTETS_MAX = 200
const PAGE_ROWS = 500

/** Pages are read by rowid, so a table without rowids is unknown. */
const IS_TABLE = `
select 1 from sqlite_master where type = 'table' and name = ? and sql not like '%without%rowid%'
`
const LIST_COLUMNS = `select name from pragma_table_info(?)`

/** For each existing table, the query for one page. The columns differ by version. */
export type Layout = ReadonlyMap<TrackingTable, string>

export function findLayout(db: Database.Database): Layout {
  const tables = trackingTables.filter((table) => prepared(db, IS_TABLE).get(table) !== undefined)
  return new Map(tables.map((table) => [table, pageOf(table, listColumns(db, table))]))
}

/** SQLite ignores the case of names. */
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
  // JavaScript would round a rowid above 2^53.
  return `
    select rowid, ${names.join(', ')} from ${table}
    where rowid > ? and rowid < ${Number.MAX_SAFE_INTEGER} order by rowid limit ${PAGE_ROWS}
  `
}

/** Any column can have any value. Null if the column is missing, NULL, or too long. */
export type TrackingRow = Readonly<Record<string, unknown>> & { readonly rowid: number }

export interface Page {
  readonly rows: readonly TrackingRow[]
  readonly isMore: boolean
  readonly isDamaged: boolean
}

/**
 * Rows after `after`, at least one if there is one. Stops early when the time is up.
 * @param forMs milliseconds
 */
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
