import { hash as digest } from 'node:crypto'
import { join } from 'node:path'
import { endedBy, filesOf, fileSignature, openCursorFile, type OpenFile } from '../../open-safely/cursor-file.ts'
import { countLater, readingStep, type PassEnd, type PassRequest, type PassStep, type Source } from '../../source.ts'
import { newestReference } from '../../../mirror/write/pending-references.ts'
import { emptyBatch, type Batch, type RowState } from '../../../mirror/write/batch.ts'
import type { Mirror } from '../../../mirror/open.ts'
import * as held from '../../../mirror/sources/source-state.ts'
import { writeBatch } from '../../../mirror/write/write-batch.ts'
import { asSourceId } from '../../../model/ids.ts'
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
  readonly look: (pass: BlobPass) => Generator<PassStep, void>
}

/**
 * A source that reads only values requested by messages. If nothing was requested since its last pass, it opens no
 * file. A full pass looks for everything that is still missing.
 */
export function blobSource(userDir: string, { kind, decoder, rank, look }: BlobSource): Source {
  const folder = join(userDir, 'globalStorage')
  const path = join(folder, 'state.vscdb')
  const source: Source = {
    id: asSourceId(digest('sha256', `${kind} ${path}`).slice(0, 16)),
    kind,
    decoder,
    path,
    rank,
    folder,
    files: filesOf(path),
    isAlwaysWarm: true,
    signature: () => fileSignature(path),
    *pass(mirror, request) {
      const num = held.sourceNum(mirror, source)
      const end = yield* openAndLook(mirror, { num, path, request, look })
      held.saveSourceState(mirror, num, end.state, end.detail, end.state === 'ok' ? request.now() : null)
      return end
    },
  }
  return source
}

interface Setting {
  readonly num: number
  readonly path: string
  readonly request: PassRequest
  readonly look: BlobSource['look']
}

/** Requests made by a source that runs later in the same run are handled at the next count. */
const settledFor = ({ depth }: PassRequest): PassEnd => ({
  state: 'ok',
  detail: null,
  again: depth === 'nudge' ? [countLater] : [],
})

function* openAndLook(mirror: Mirror, { num, path, request, look }: Setting): Generator<PassStep, PassEnd> {
  if (fileSignature(path) === null) return { state: 'missing', detail: null, again: [] }
  const asker = held.findSource(mirror, ASKER, path)
  const position = held.readPosition(mirror, num)
  const newest = newestReference(mirror)
  const after = request.depth === 'full' ? 0 : (position.watermark ?? 0)
  if (asker === null || newest <= after) return settledFor(request)
  const file = openCursorFile(path)
  if (file.kind === 'closed') return { state: file.state, detail: file.detail, again: [] }
  try {
    if (file.bytesRead > 0) yield { ...readingStep, bytesRead: file.bytesRead }
    const isOutdated = position.watermark === null
    const issueKeys = new Set<string>()
    if (file.read(hasTable)) yield* look({ file, mirror, num, asker, request, after, isOutdated, issueKeys })
    const { identity, signature } = file
    // A full search has reported every issue that still exists.
    const droppedKeys = after > 0 ? [] : held.listIssueKeys(mirror, num).filter((key) => !issueKeys.has(key))
    const end = { identity, signature, watermark: newest, watermarkKey: null }
    writeFound({ mirror, num, request }, { droppedKeys, position: end })
    // Other sources account for the rest of the store.
    held.saveCounts(mirror, num, { totalRows: held.countHeldRows(mirror, num), nullKeys: 0 }, request.now())
    return settledFor(request)
  } catch (error) {
    const { state, detail } = endedBy(error)
    return { state, detail, again: [] }
  } finally {
    file.close()
  }
}

type Writer = Pick<BlobPass, 'mirror' | 'num' | 'request'>

/** Writes the found values in one transaction. */
function writeFound({ mirror, num, request }: Writer, found: Partial<Batch>): PassStep['outcome'] {
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

/** A step that read one page and wrote what it found. */
export function foundStep(pass: BlobPass, page: Omit<NamedPage, 'values'>, found: Partial<Batch>): PassStep {
  const outcome = writeFound(pass, found)
  for (const { key } of found.issues ?? []) pass.issueKeys.add(key)
  return { ...readingStep, bytesRead: page.bytesRead, longestReadMs: page.elapsedMs, outcome }
}
