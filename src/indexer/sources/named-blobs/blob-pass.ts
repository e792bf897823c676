import { join } from 'node:path'
import type { Mirror } from '../../../mirror/open.ts'
import * as held from '../../../mirror/sources/source-state.ts'
import { emptyBatch, type Batch, type BatchOutcome, type RowState } from '../../../mirror/write/batch.ts'
import { newestReference } from '../../../mirror/write/pending-references.ts'
import { writeBatch } from '../../../mirror/write/write-batch.ts'
import { filesOf, fileSignature, openCursorFile, type OpenFile } from '../../open-safely/cursor-file.ts'
import { compareLater, sourceId, type PassRequest, type Source } from '../../source.ts'
import { hasTable, type NamedPage, type NamedValue } from './read.ts'

/** The source whose messages ask for values; the values are in the same file. */
const ASKER = 'composer-kv'

/** One search for the requested values, with the store open. */
export interface BlobPass {
  readonly file: OpenFile
  readonly mirror: Mirror
  /** The number of this source. */
  readonly num: number
  /** The number of the source whose messages ask. */
  readonly asker: number
  readonly request: PassRequest
  /** Requests up to this number were handled before. */
  readonly after: number
  /** True if no pass has ended since another decoder version read the source, or since the mirror was salvaged. */
  readonly isOutdated: boolean
  /** Keys of the rows with an issue in this pass. */
  readonly issueKeys: Set<string>
}

interface BlobSource {
  readonly kind: string
  readonly decoder: number
  readonly rank: number
  readonly look: (pass: BlobPass) => Promise<void>
}

/**
 * A source that reads only values requested by messages. If nothing was requested since its last pass, it opens no
 * file. A comparison of all values looks for everything that is still missing.
 */
export function blobSource(userDir: string, { kind, decoder, rank, look }: BlobSource): Source {
  const folder = join(userDir, 'globalStorage')
  const path = join(folder, 'state.vscdb')
  return {
    id: sourceId(kind, path),
    kind,
    decoder,
    path,
    rank,
    folder,
    files: filesOf(path),
    isAlwaysWarm: true,
    signature: () => fileSignature(path),
    async pass(mirror, num, request) {
      if (fileSignature(path) === null) return { kind: 'closed', state: 'missing', detail: null }
      const asker = held.findSource(mirror, ASKER, path)
      const { watermark } = held.readPosition(mirror, num)
      const newest = newestReference(mirror)
      const after = request.depth === 'values' ? 0 : (watermark ?? 0)
      // Requests made by a source that runs later in the same run are handled by a later pass.
      const done = { isRead: true, again: request.depth === 'tail' ? compareLater : [] }
      if (asker === null || newest <= after) return done
      const file = openCursorFile(path)
      if (file.kind === 'closed') return file
      try {
        if (file.bytesRead > 0) await request.turn({ bytesRead: file.bytesRead })
        const issueKeys = new Set<string>()
        const pass = { file, mirror, num, asker, request, after, isOutdated: watermark === null, issueKeys }
        if (file.read(hasTable)) await look(pass)
        // A search for everything has reported every issue that still exists.
        const droppedKeys = after > 0 ? [] : held.listIssueKeys(mirror, num).filter((key) => !issueKeys.has(key))
        const { identity, signature } = file
        writeFound(pass, { droppedKeys, position: { identity, signature, watermark: newest, watermarkKey: null } })
        // Other sources account for the rest of the store.
        held.saveCounts(mirror, num, { totalRows: held.countHeldRows(mirror, num), nullKeys: 0 }, request.now())
        return done
      } finally {
        file.close()
      }
    },
  }
}

/** Writes the found values in one transaction. */
function writeFound({ mirror, num, request }: BlobPass, found: Partial<Batch>): BatchOutcome {
  return writeBatch(mirror, { ...emptyBatch, ...found, source: num, nowMs: request.now() })
}

/** Used instead of a rowid: this decoder has read the value. */
export const READ = 0

/** A value named by its hash never changes, so the row only records that it was read. */
export const rowOf = ({ key, octets }: Omit<NamedValue, 'value'>): RowState => ({
  key,
  rowid: READ,
  octets,
  checksum: null,
})

/** Ends a step that read one page, and writes what it found. */
export async function endStep(
  pass: BlobPass,
  page: Omit<NamedPage, 'values'>,
  found: Partial<Batch> | null = null,
): Promise<void> {
  const outcome = found === null ? null : writeFound(pass, found)
  for (const { key } of found?.issues ?? []) pass.issueKeys.add(key)
  await pass.request.turn({ bytesRead: page.bytesRead, longestReadMs: page.elapsedMs, outcome })
}
