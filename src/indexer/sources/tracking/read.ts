import type Database from 'better-sqlite3'
import { prepared } from '../../../mirror/sql.ts'
import type { ScoredCommit, TrackedWrite } from '../../../model/commit.ts'
import { asChatId } from '../../../model/ids.ts'
import { tryRead } from '../../open-safely/cursor-file.ts'
import { countIn, filledString, readModelName, readTime } from '../records/json.ts'

/**
 * The tables and columns that are read, by exact name. The file also contains code, whole files and summaries of chats:
 * no query here names those, and none reads all columns.
 */
const HASHES = 'ai_code_hashes'
const COMMITS = 'scored_commits'
const columnsOf = {
  [HASHES]: ['conversationId', 'timestamp', 'createdAt', 'model', 'source'],
  [COMMITS]: ['commitHash', 'composerLinesAdded', 'composerLinesDeleted'],
} as const
export type TrackingTable = keyof typeof columnsOf
export const trackingTables: readonly TrackingTable[] = [HASHES, COMMITS]

/** Longer than any id, model or time. A longer value is not read. */
const OCTETS_MAX = 200
const PAGE_ROWS = 500
const HOUR_MS = 3_600_000

/** Pages are read by rowid, so a table without rowids is unknown, and so is a view. */
const IS_TABLE = `
select 1 from pragma_table_list(@table) where schema = 'main' and type = 'table' and wr = 0
  and not exists (select 1 from pragma_table_xinfo(@table) where lower(name) = 'rowid')
`
const LIST_COLUMNS = `select lower(name) from pragma_table_info(?)`

/** For each existing table, the query for one page. The columns differ by version. */
export type Layout = ReadonlyMap<TrackingTable, string>

export function findLayout(db: Database.Database): Layout {
  const tables = trackingTables.filter((table) => prepared(db, IS_TABLE).get({ table }) !== undefined)
  return new Map(tables.map((table) => [table, pageOf(table, db.prepare(LIST_COLUMNS).pluck().all(table))]))
}

function pageOf(table: TrackingTable, there: readonly unknown[]): string {
  const columns = columnsOf[table].map((name) =>
    there.includes(name.toLowerCase())
      ? `iif(octet_length(${name}) > ${OCTETS_MAX}, x'', ${name}) as ${name}`
      : `null as ${name}`,
  )
  // JavaScript would round a rowid above 2^53.
  return `
    select rowid, ${columns.join(', ')} from ${table}
    where rowid > ? and rowid < ${Number.MAX_SAFE_INTEGER} order by rowid limit ${PAGE_ROWS}
  `
}

/** Any column can have any value. Null if the column is missing; empty bytes if the value is too long. */
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

interface Hour extends TrackedWrite {
  readonly models: Map<string, number>
}

/** Sums up rows by chat and hour, and drops everything else in them. */
export class TrackingTally {
  readonly #hours = new Map<string, Hour>()
  readonly #commits: ScoredCommit[] = []

  get size(): number {
    return this.#hours.size + this.#commits.length
  }

  get sums(): { readonly tracked: readonly TrackedWrite[]; readonly scoredCommits: readonly ScoredCommit[] } {
    return { tracked: [...this.#hours.values()], scoredCommits: this.#commits }
  }

  /** @returns false if the row has data that cannot be understood */
  add(table: TrackingTable, row: TrackingRow): boolean {
    return table === HASHES ? this.#addHash(row) : this.#addCommit(row)
  }

  #addHash(row: TrackingRow): boolean {
    const { source, conversationId, timestamp, createdAt } = row
    // What a person typed or accepted from a completion does not belong to a chat.
    if (source === 'human' || source === 'tab' || conversationId === null || conversationId === '') return true
    const id = filledString(conversationId)
    const atMs = readTime(timestamp) ?? readTime(createdAt)
    if (id === null) return false
    if (atMs === null) return timestamp === null && createdAt === null
    const key = `${Math.floor(atMs / HOUR_MS)} ${id}`
    const { firstAtMs, lastAtMs, models } = this.#hours.get(key) ?? {
      firstAtMs: atMs,
      lastAtMs: atMs,
      models: new Map<string, number>(),
    }
    const model = readModelName(row, 'model')
    if (model !== null) models.set(model, Math.max(atMs, models.get(model) ?? 0))
    const times = { firstAtMs: Math.min(atMs, firstAtMs), lastAtMs: Math.max(atMs, lastAtMs) }
    this.#hours.set(key, { chatId: asChatId(id), ...times, models })
    return true
  }

  #addCommit(row: TrackingRow): boolean {
    const sha = row['commitHash']
    if (sha === null) return true
    if (typeof sha !== 'string' || !/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(sha)) return false
    const [added, removed] = [countIn(row, 'composerLinesAdded'), countIn(row, 'composerLinesDeleted')]
    const chatLines = added === null && removed === null ? null : (added ?? 0) + (removed ?? 0)
    this.#commits.push({ sha: sha.toLowerCase(), chatLines })
    return true
  }
}
