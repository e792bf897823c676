import type Database from 'better-sqlite3'
import { prepared } from '../../../mirror/sql.ts'
import type { ScoredCommit, TrackedWrite } from '../../../model/commit.ts'
import { asChatId } from '../../../model/ids.ts'
import { tryRead, type OpenFile, fileSignature } from '../../open-safely/cursor-file.ts'
import { countIn, filledString, readModelName, readTime } from '../records/json.ts'
import { join } from 'node:path'
import type { Mirror } from '../../../mirror/open.ts'
import * as held from '../../../mirror/sources/sources.ts'
import { emptyChange, type RowIssue } from '../../../model/change.ts'
import { writeChange } from '../../../mirror/write/write.ts'
import type { IssueReason } from '../../../model/issue.ts'
import { ofDatabase, read, skipped, whileOpen, type PassDone, type PassRequest, type Source } from '../../source.ts'

/** Cursor writes to it with every edit, and its content is not urgent. */
const READ_EVERY_MS = 60_000
/** This many hours of chats are written in one transaction, as the messages of each chat may need new places. */
const WRITE_AT_ONCE = 100
/** Before every row: rowids may be negative. */
const FIRST = Number.MIN_SAFE_INTEGER

/** Cursor's record of the code that its chats wrote, in the folder `ai-tracking` of one of its home folders. */
export function trackingSource(folder: string): Source {
  const path = join(folder, 'ai-code-tracking.db')
  return {
    // It contains no chats, so no chat ever comes from it.
    ...ofDatabase({ kind: 'tracking', decoder: 1, path, rank: 9, isAlwaysWarm: false }),
    everyMs: READ_EVERY_MS,
    async pass(mirror, num, request) {
      const skip = skipped(mirror, num, request, fileSignature(path), READ_EVERY_MS)
      return skip ?? whileOpen(path, (file) => importTracking(mirror, num, file, request))
    },
  }
}

/**
 * Adds the content of the file to what is known, one page per transaction. Adding a row twice changes nothing, so an
 * interrupted pass starts again: the position is written with the last step. What Cursor removed from the file stays
 * known.
 */
async function importTracking(mirror: Mirror, num: number, file: OpenFile, request: PassRequest): Promise<PassDone> {
  const layout = file.read(findLayout)
  const change = () => ({ ...emptyChange, source: num, nowMs: request.now() })
  let tally = new TrackingTally()
  let bytesRead = file.bytesRead
  const issues: RowIssue[] = []
  for (const [table, query] of layout) {
    let after = FIRST
    let reason: IssueReason | null = null
    for (let page: ReturnType<typeof readPage> | null = null; page === null || page.isMore;) {
      page = file.read((db) => readPage(db, query, after, file.readMsMax / 4))
      for (const row of page.rows) {
        if (!tally.add(table, row)) reason ??= 'unknown-shape'
        for (const value of Object.values(row)) bytesRead += String(value).length
      }
      after = page.rows.at(-1)?.rowid ?? after
      if (page.isDamaged) reason = 'unreadable-page'
      const isFull = tally.size >= WRITE_AT_ONCE
      const outcome = isFull ? writeChange(mirror, { ...change(), ...tally.sums }) : null
      if (isFull) tally = new TrackingTally()
      await request.turn({ bytesRead, longestReadMs: file.longestReadMs(), outcome })
      bytesRead = 0
    }
    if (reason !== null) issues.push({ key: table, reason, octets: null })
  }
  held.saveCounts(mirror, { num, totalRows: layout.size, nullKeys: 0, nowMs: request.now() })
  // Each table counts as one row.
  const outcome = writeChange(mirror, {
    ...change(),
    ...tally.sums,
    rows: [...layout.keys()].map((key) => ({ key, rowid: 0, octets: 0, checksum: null })),
    goneKeys: trackingTables.filter(
      (table) => !layout.has(table) && held.findHeldRow(mirror, num, table) !== undefined,
    ),
    issues,
    position: { watermark: null, watermarkKey: null, identity: file.identity, signature: file.signature },
  })
  await request.turn({ outcome })
  return read
}

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
type TrackingTable = keyof typeof columnsOf
const trackingTables: readonly TrackingTable[] = [HASHES, COMMITS]

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
function findLayout(db: Database.Database) {
  const tables = trackingTables.filter((table) => prepared(db, IS_TABLE).get({ table }) !== undefined)
  return new Map(tables.map((table) => [table, pageOf(table, db.prepare(LIST_COLUMNS).pluck().all(table))] as const))
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
type TrackingRow = Readonly<Record<string, unknown>> & { readonly rowid: number }

/**
 * Rows after `after`, at least one if there is one. Stops early when the time is up.
 * @param forMs milliseconds
 */
function readPage(db: Database.Database, query: string, after: number, forMs: number) {
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
class TrackingTally {
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
