import { crc32 } from 'node:zlib'
import type { OpenFile } from '../../open-safely/cursor-file.ts'
import { isAtLeast, readingStep, type PassRequest, type PassStep } from '../../source.ts'
import { emptyBatch, type Batch, type BatchOutcome, type RowIssue } from '../../../mirror/write/batch.ts'
import type { Mirror } from '../../../mirror/open.ts'
import * as held from '../../../mirror/sources/source-state.ts'
import { writeBatch } from '../../../mirror/write/write-batch.ts'
import type { IssueReason } from '../../../model/issue.ts'
import { COMMITS, findLayout, HASHES, readPage, trackingTables } from './read.ts'
import type { Layout, Page, TrackingRow, TrackingTable } from './read.ts'
import { TrackingTally } from './tally.ts'

/** This many hours of chats are written in one transaction, as the messages of each chat may need new places. */
const WRITE_AT_ONCE = 100
/** Before every row: rowids may be negative. */
const FIRST = Number.MIN_SAFE_INTEGER

export interface Import {
  readonly mirror: Mirror
  readonly num: number
  readonly file: OpenFile
  readonly request: PassRequest
}

/** The row up to which a table was read. */
interface Mark {
  readonly rowid: number
  readonly checksum: string
}

const markOf = (row: TrackingRow): Mark => ({
  rowid: row.rowid,
  checksum: String(crc32(JSON.stringify(Object.values(row)))),
})

/**
 * Adds the content of the file to what is known, one page per transaction. Adding a row twice changes nothing, so an
 * interrupted pass starts again: the position is written with the last step. What Cursor removed from the file stays
 * known.
 */
export function* importTracking({ mirror, num, file, request }: Import): Generator<PassStep, void> {
  const layout = file.read(findLayout)
  const known = isAtLeast(request.depth, 'reconcile') ? null : knownMark(mirror, num, file, layout)
  const tally = new TrackingTally()
  const write = (more: Partial<Batch>): BatchOutcome =>
    writeBatch(mirror, { ...emptyBatch, ...tally.take(), ...more, source: num, nowMs: request.now() })
  const issues: RowIssue[] = []
  let mark = known
  let bytesRead = file.bytesRead
  for (const [table, query] of layout) {
    let after = table === HASHES && known !== null ? known.rowid : FIRST
    let reason: IssueReason | null = null
    for (let page: Page | null = null; page === null || page.isMore;) {
      page = file.read((db) => readPage(db, query, after, file.readMsMax / 4))
      for (const row of page.rows) {
        const isUnderstood = table === COMMITS ? tally.addCommit(row) : tally.addHash(row)
        if (!isUnderstood) reason ??= 'unknown-shape'
        bytesRead += octetsOf(row)
      }
      if (page.isDamaged) reason = 'unreadable-page'
      const last = page.rows.at(-1)
      after = last?.rowid ?? after
      if (table === HASHES && last !== undefined) mark = markOf(last)
      const outcome = tally.size < WRITE_AT_ONCE ? null : write({})
      yield { ...readingStep, bytesRead, longestReadMs: file.longestReadMs(), outcome }
      bytesRead = 0
    }
    if (reason !== null) issues.push({ key: table, reason, octets: null })
  }
  held.saveCounts(mirror, num, { totalRows: layout.size, nullKeys: 0 }, request.now())
  const position = { watermark: mark?.rowid ?? null, watermarkKey: mark?.checksum ?? null }
  const outcome = write({
    rows: [...layout.keys()].filter((table) => table === COMMITS || known === null).map(rowOf),
    goneKeys: trackingTables.filter(
      (table) => !layout.has(table) && held.findHeldRow(mirror, num, table) !== undefined,
    ),
    issues,
    position: { ...position, identity: file.identity, signature: file.signature },
  })
  yield { ...readingStep, outcome }
}

/** Each table counts as one row. The position tells which of its rows were read. */
const rowOf = (table: TrackingTable) => ({ key: table, rowid: 0, octets: 0, checksum: null })

const octetsOf = (row: TrackingRow): number =>
  Object.values(row).reduce<number>((sum, value) => sum + String(value).length, 0)

/**
 * The row up to which the table of hashes was read, if it is unchanged. Then all rows after it are new, because Cursor
 * rewrites a row under a higher rowid. Otherwise null, and all rows are read.
 */
function knownMark(mirror: Mirror, num: number, file: OpenFile, layout: Layout): Mark | null {
  const { identity, watermark, watermarkKey } = held.readPosition(mirror, num)
  const query = layout.get(HASHES)
  if (identity !== file.identity || watermark === null || query === undefined) return null
  const [row] = file.read((db) => readPage(db, query, watermark - 1, 0)).rows
  const mark = row === undefined ? null : markOf(row)
  return mark?.rowid === watermark && mark.checksum === watermarkKey ? mark : null
}
