import { join } from 'node:path'
import type { Mirror } from '../../../mirror/open.ts'
import * as held from '../../../mirror/sources/sources.ts'
import { emptyChange, type RowIssue } from '../../../model/change.ts'
import { writeChange } from '../../../mirror/write/write.ts'
import type { IssueReason } from '../../../model/issue.ts'
import { type OpenFile, fileSignature } from '../../open-safely/cursor-file.ts'
import { ofDatabase, read, skipped, whileOpen, type PassDone, type PassRequest, type Source } from '../../source.ts'
import { findLayout, readPage, trackingTables, TrackingTally, type Page } from './read.ts'

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
    for (let page: Page | null = null; page === null || page.isMore;) {
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
